/** Lets test processes start and run faster: what the test runner adds to them stays out. */

import hooks from 'node:async_hooks'
import module, { syncBuiltinESMExports } from 'node:module'

// The runner registers loaders that record which files run, for a coverage that is switched off;
// each has a thread of its own.
module.register = () => {}

// The runner follows each promise and each callback to the test that made it, which takes a fifth
// of the CPU time. Without that, `test/run/process` gives an exception that nothing catches to the
// file that runs.
const unused = {
  enable: () => unused,
  disable: () => unused,
}
hooks.createHook = () => unused
syncBuiltinESMExports()
