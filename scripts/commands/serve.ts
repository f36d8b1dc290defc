/** `gatehouse serve`: the supervisor, or one of its workers, which run the same command. */

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
      // Imported here because loading the server takes longer than any other command runs.
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
      // A check of the start may still wait for an answer, of a bucket for half a minute.
      process.exit()
    },
  },
]
