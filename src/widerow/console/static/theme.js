// Before the page is drawn: the colours that were chosen here, where any were.
(function () {
  document.documentElement.classList.add("js");
  var chosen = null;
  try { chosen = localStorage.getItem("widerow-theme"); } catch (error) { chosen = null; }
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.setAttribute("data-theme", chosen);
  }
})();
