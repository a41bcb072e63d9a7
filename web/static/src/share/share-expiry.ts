import { setText } from "../ui/dom.ts";
import { expiryText } from "../model/guest.ts";

/** On a guest's page, shows in the header when the share link expires, in local time. */
export function showExpiry(now: () => number): void {
  const time = document.getElementById("until");
  const at = time?.getAttribute("datetime") ?? "";
  const update = (): void => {
    if (time !== null) setText(time, expiryText(at, now()));
  };
  if (time !== null) time.title = new Date(at).toString();
  update();
  setInterval(update, 60_000); // update every minute, because the text depends on the current date
}
