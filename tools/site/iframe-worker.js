// A page that is opened from a disk may start no worker, and the search wants one. There its script
// runs in a hidden frame instead, which has messages of its own.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.document.open();
      inside.document.close();
      inside.postMessage = (data) => this.#tell(data);
      inside.importScripts = (...urls) => urls.forEach((each) => inside.document.write(
        `<script src="${each}"></` + "script>"));
      this.frame = frame;
      this.ready = new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = reject;
        inside.document.body.append(script);
      });
    }

    #tell(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      this.onmessage?.(event);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(
        new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
