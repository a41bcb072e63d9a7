// Imports the code that app.ts shares with all views, so that the bundler puts it into few files. A view that needs the
// code of lists or objects imports shared-code.ts instead of this file.

import "./model/guest.ts";
import "./model/kind-feed.ts";
import "./model/severity.ts";
import "./model/view.ts";
import "./net/base-path.ts";
import "./net/contexts.ts";
import "./net/kinds.ts";
import "./net/latency.ts";
import "./net/live.ts";
import "./net/login.ts";
import "./net/verdict.ts";
import "./palette/commands.ts";
import "./palette/keys.ts";
import "./text/age.ts";
import "./text/format.ts";
import "./text/invisible-chars.ts";
import "./ui/build-monitor.ts";
import "./ui/clock.ts";
import "./ui/dom.ts";
import "./ui/popover.ts";
import "./ui/preferences.ts";
import "./ui/single-key.ts";
import "./ui/tab-style.ts";
import "./ui/theme.ts";
import "./ui/toast.ts";
