/** The module that the threads of the gateway's pools run. */

import { TASKS } from './tasks.js'
import { serveTasks } from './thread.js'

serveTasks(TASKS)
