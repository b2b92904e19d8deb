// Unpacks the page's script and runs it. The policy knows that script by its hash, as it does this one.

import { embedded } from "./data/page";

embedded("marey-script").then(
  (bytes) => {
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(bytes);
    document.body.append(script);
  },
  (error) => {
    const place = document.getElementById("page") as HTMLElement;
    place.textContent = `This page needs a browser of 2023 or later: ${error}`;
  },
);
