// Imports the code that most views share. Each view that loads on demand imports this file, so that the bundler puts
// the shared code into a few files. Otherwise, the bundler would write many small files, which compress worse.

import "./core-code.ts";
import "./model/column-set.ts";
import "./model/feed.ts";
import "./model/row-source.ts";
import "./model/status.ts";
import "./ui/ages.ts";
import "./ui/cell-highlight.ts";
import "./ui/status-view.ts";
