// Runs before the page is drawn, so that it never shows in one theme and then in another.

import { startTheme } from "./data/theme";

startTheme();
