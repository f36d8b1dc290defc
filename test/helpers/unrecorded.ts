/** Lets a test process start in half the time: what the test runner puts into it stays out. */

import module from 'node:module'

// It registers loaders that note which files run, for a coverage that nobody asks for, each in a
// thread of its own. What is compiled needs no loader.
module.register = () => {}
