/** `gatehouse serve`: the supervisor, or one of the workers that it starts with the same words. */

import cluster from 'node:cluster'
import { loadSettings } from '../../conf/load.js'
import { type Command, CommandError } from './command.js'

export const SERVE_COMMANDS: readonly Command[] = [
  {
    words: ['serve'],
    usage: '',
    about: 'Migrates the database and serves until SIGTERM or SIGINT.',
    positionals: [],
    options: {},
    async run() {
      // Loaded by whoever needs it: it takes longer than the whole of any other command.
      if (cluster.isWorker) {
        const { runWorker } = await import('../../gateway/worker.js')
        return runWorker(loadSettings())
      }
      const { superviseWorkers } = await import('../../gateway/supervisor.js')
      try {
        await superviseWorkers(loadSettings(), {
          reread: loadSettings,
          greet: (text) => console.log(text),
        })
      } catch (error) {
        throw new CommandError(error instanceof Error ? error.message : String(error), {
          cause: error,
        })
      }
    },
  },
]
