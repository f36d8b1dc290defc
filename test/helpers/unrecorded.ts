/** Disables instrumentation of the test runner, so that test processes start and run faster. */

import hooks from 'node:async_hooks'
import module, { syncBuiltinESMExports } from 'node:module'

// The runner registers loaders that record files for coverage, which is switched off. Each loader
// would run in a thread.
module.register = () => {}

// The runner tracks which test created each promise and callback, which takes a fifth of the CPU
// time. Without that, `test/run/process` attributes uncaught exceptions to the running file.
const unused = {
  enable: () => unused,
  disable: () => unused,
}
hooks.createHook = () => unused
syncBuiltinESMExports()
