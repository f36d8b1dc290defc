/** An event loop watch that does not measure, for routers without a server. */

import type { LoopWatch } from '../../gateway/request/loop-watch.js'

export const NO_WATCH: LoopWatch = { begin() {}, wait() {}, end() {}, stop() {} }
