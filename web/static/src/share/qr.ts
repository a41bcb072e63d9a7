// Draws QR codes as SVG. The code is black on white in all themes, because cameras need the contrast.

import { encode } from "uqr";
import { svg } from "../ui/dom.ts";

const margin = 4; // empty modules (squares) around the code, as required by ISO/IEC 18004

/** Returns the SVG path of the dark modules of a QR code, and the number of modules on each side. */
export function qrOutline(text: string): { d: string; size: number } {
  const { data, size } = encode(text, { ecc: "M", border: margin });
  const runs: string[] = [];
  data.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (row[x] !== true) continue;
      const from = x;
      while (row[x + 1] === true) x++;
      runs.push(`M${from} ${y}h${x + 1 - from}v1H${from}z`);
    }
  });
  return { d: runs.join(""), size };
}

/** Returns an SVG element with the QR code of a text. The parameter `label` is the text for screen readers. */
export function drawQrCode(text: string, label: string): SVGElement {
  const { d, size } = qrOutline(text);
  return svg(
    "svg",
    { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    svg("rect", { width: String(size), height: String(size), fill: "#fff" }),
    svg("path", { d, fill: "#000" }),
  );
}
