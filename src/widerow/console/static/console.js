// Small things that a page can do without and is nicer with: colours, keys, charts, more fields.
(function () {
  "use strict";
  var root = document.documentElement;

  function isDark() {
    var chosen = root.getAttribute("data-theme");
    if (chosen) { return chosen === "dark"; }
    return window.matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function switchTheme() {
    var next = isDark() ? "light" : "dark";
    root.setAttribute("data-theme", next);
    try { localStorage.setItem("widerow-theme", next); } catch (error) { /* for this page only */ }
    drawCharts();
  }

  function isTyping(target) {
    return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable;
  }

  document.addEventListener("keydown", function (event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) { return; }
    var field = document.querySelector("[data-search]");
    if (field && !isTyping(event.target)) {
      event.preventDefault();
      field.focus();
      field.select();
    }
  });

  document.addEventListener("click", function (event) {
    var button = event.target.closest("button[data-do]");
    if (!button) { return; }
    var what = button.getAttribute("data-do");
    if (what === "theme") { switchTheme(); }
    if (what === "column") { addColumn(); }
    if (what === "back") { history.back(); }
  });

  // Copies what a link leads to. Where the clipboard is closed (plain HTTP to another host), the link
  // is followed.
  document.addEventListener("click", function (event) {
    var link = event.target.closest("[data-copy]");
    if (!link || !navigator.clipboard) { return; }
    event.preventDefault();
    var request = link.form ? [link.form.action, { method: "POST",
      body: new URLSearchParams(new FormData(link.form, link)) }] : [link.href, {}];
    fetch(request[0], request[1]).then(function (answer) {
      if (!answer.ok) { throw new Error(String(answer.status)); }
      return answer.text();
    }).then(function (text) { return navigator.clipboard.writeText(text); }).then(function () {
      link.textContent = "Copied";
    }).catch(function () {
      link.removeAttribute("data-copy");
      link.click();
    });
  });

  // A file that is dropped on a form is chosen in it; one that is too large is not sent.
  function fileField(form) { return form.querySelector("input[type=file]"); }

  function checkFile(form) {
    var field = fileField(form), file = field.files[0];
    var large = Boolean(file) && file.size > Number(field.getAttribute("data-max"));
    form.querySelector(".problem").hidden = !large;
    form.querySelector("button.main").disabled = large;
  }

  ["dragover", "dragleave", "drop"].forEach(function (kind) {
    document.addEventListener(kind, function (event) {
      var form = document.querySelector("form[data-drop]");
      if (!form) { return; }
      event.preventDefault();
      form.querySelector(".drop").classList.toggle("over", kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files.length) {
        fileField(form).files = event.dataTransfer.files;
        checkFile(form);
      }
    });
  });
  document.addEventListener("change", function (event) {
    if (event.target.type === "file") { checkFile(event.target.form); }
  });

  document.addEventListener("keydown", function (event) {
    var form = event.target.closest && event.target.closest("form[data-run]");
    if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button.main"));
    }
  });

  // A menu is closed by Escape and by a click beside it.
  function closeMenus(beside) {
    document.querySelectorAll(".menu[open]").forEach(function (menu) {
      if (!menu.contains(beside)) { menu.open = false; }
    });
  }
  document.addEventListener("click", function (event) { closeMenus(event.target); });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") { closeMenus(null); }
  });

  document.addEventListener("submit", function (event) {
    var words = event.submitter && event.submitter.getAttribute("data-confirm");
    if (words && !window.confirm(words)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  // One more column in the form of a row: a copy of the last one, emptied and numbered on.
  function addColumn() {
    var fields = document.querySelectorAll("[data-column]");
    var last = fields[fields.length - 1];
    var number = Number(last.getAttribute("data-column")) + 1;
    var copy = last.cloneNode(true);
    copy.setAttribute("data-column", number);
    copy.querySelectorAll("[name]").forEach(function (field) {
      field.name = field.name.replace(/^col\.\d+\./, "col." + number + ".");
      if (field.type !== "hidden" && field.tagName !== "SELECT") { field.value = ""; }
    });
    last.after(copy);
    copy.querySelector("input:not([type=hidden])").focus();
  }

  // --- charts -----------------------------------------------------------------------------------

  function colour(name) { return getComputedStyle(root).getPropertyValue(name).trim(); }

  function timeOfDay(seconds) { return new Date(seconds * 1000).toISOString().slice(11, 19); }

  function axis(unit) {
    return {
      stroke: colour("--soft"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1 },
      font: "12px " + getComputedStyle(document.body).fontFamily,
      size: unit === null ? 34 : 58,
      space: unit === null ? 80 : 40,
      values: function (_, ticks) {
        return ticks.map(function (tick) {
          return unit === null ? timeOfDay(tick) : tick.toLocaleString("en") + unit;
        });
      },
    };
  }

  function drawChart(place) {
    var source = document.getElementById(place.getAttribute("data-chart"));
    var data = JSON.parse(source.getAttribute("data-points"));
    var unit = place.getAttribute("data-unit") || "";
    var names = place.getAttribute("data-series").split(",");
    var colours = [colour("--accent"), colour("--bad"), colour("--look")];
    var rows = [data.at].concat(names.map(function (name) { return data[name.split("=")[0]]; }));
    place.textContent = "";
    if (data.at.length < 2) {
      place.textContent = "The first points come in a few seconds.";
      return;
    }
    new uPlot({
      width: Math.max(240, place.clientWidth),
      height: 150,
      legend: { show: true, live: false },
      cursor: { show: false },
      scales: { y: { range: function (_, low, high) { return [0, Math.max(high, 1)]; } } },
      axes: [axis(null), axis(unit)],
      series: [{}].concat(names.map(function (name, number) {
        return {
          label: name.split("=")[1],
          stroke: colours[number],
          width: 2,
          dash: number ? [6, 3] : undefined,
          points: { show: false },
        };
      })),
    }, rows, place);
  }

  function drawCharts() {
    if (typeof uPlot === "undefined") { return; }
    document.querySelectorAll("[data-chart]").forEach(drawChart);
  }

  // Where the pointer is on a heat map: its time, its keys, their load. Titles, which say the mean of
  // a range, are there for pages without scripts.
  function tipOf(map) { return map.parentElement.querySelector(".tip"); }

  function showTip(event) {
    var band = event.target.closest && event.target.closest(".band");
    document.querySelectorAll(".tip").forEach(function (tip) { tip.hidden = !band; });
    if (!band) { return; }
    var map = band.closest("svg"), tip = tipOf(map), box = map.getBoundingClientRect();
    var starts = JSON.parse(map.getAttribute("data-starts"));
    var units = JSON.parse(band.getAttribute("data-units"));
    var across = event.clientX - box.left, down = event.clientY - box.top;
    var column = Math.min(starts.length - 1, Math.max(0, Math.floor(across / box.width * starts.length)));
    tip.textContent = units[column].toLocaleString("en") + " units a second\n" +
      band.getAttribute("data-range") + "\n" + timeOfDay(starts[column]) + " to " +
      timeOfDay(starts[column] + Number(map.getAttribute("data-seconds"))) + " UTC";
    tip.style.left = Math.max(0, Math.min(across + 12, box.width - tip.offsetWidth)) + "px";
    tip.style.top = (down > box.height / 2 ? down - tip.offsetHeight - 8 : down + 20) + "px";
  }
  document.addEventListener("pointermove", showTip);
  document.addEventListener("pointerdown", showTip);

  function untitle() {
    document.querySelectorAll(".band title").forEach(function (title) { title.remove(); });
  }

  // Moments are written in UTC; where a script runs, the time of this place is shown on pointing.
  function localTimes() {
    document.querySelectorAll("time[data-ms]").forEach(function (time) {
      time.title = new Date(Number(time.getAttribute("data-ms"))).toLocaleString();
    });
  }

  function begin() { drawCharts(); localTimes(); untitle(); }
  document.addEventListener("DOMContentLoaded", begin);
  document.addEventListener("htmx:afterSettle", begin);
  window.addEventListener("resize", drawCharts);
})();
