/** A watch of the event loop that measures nothing: for routers without a server. */

import type { LoopWatch } from '../../gateway/request/loop-watch.js'

export const NO_WATCH: LoopWatch = { begin() {}, wait() {}, end() {}, stop() {} }
