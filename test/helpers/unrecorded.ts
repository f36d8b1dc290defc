/** Disables instrumentation of the test library, so that tests run faster. */

import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

// The test library tracks which test created each promise and callback, which takes a fifth of the
// CPU time. Without that, `test/run/process` attributes uncaught exceptions to the running file.
const unused = {
  enable: () => unused,
  disable: () => unused,
}
hooks.createHook = () => unused
syncBuiltinESMExports()
