// Imports the code that most views share. Each view that loads on demand imports this file, so that the bundler puts
// this code into a few files. Otherwise, it writes many small ones, which compress worse.

import "./model/column-set.ts";
import "./model/feed.ts";
import "./model/kind-feed.ts";
import "./model/object-store.ts";
import "./model/status.ts";
import "./model/view.ts";
import "./net/contexts.ts";
import "./net/latency.ts";
import "./net/live.ts";
import "./net/login.ts";
import "./palette/keys.ts";
import "./ui/ages.ts";
import "./ui/build-monitor.ts";
import "./ui/cell-highlight.ts";
import "./ui/clock.ts";
import "./ui/popover.ts";
import "./ui/preferences.ts";
import "./ui/single-key.ts";
import "./ui/status-view.ts";
import "./ui/theme.ts";
import "./ui/toast.ts";
