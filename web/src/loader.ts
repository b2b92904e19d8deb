// Unpacks the program of the page and starts it. The policy of the page allows exactly this program.

import { embedded, showFailure } from "./data/page";

embedded("marey-program").then(
  (bytes) => {
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(bytes);
    document.body.append(script);
  },
  () => showFailure("This browser cannot unpack the report. Chrome 80, Firefox 113 and Safari 16.4 or later can."),
);
