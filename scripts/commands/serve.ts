/** `gatehouse serve`: the supervisor, or one of the workers that it starts with the same words. */

import cluster from 'node:cluster'
import { loadSettings } from '../../conf/load.js'
import { superviseWorkers } from '../../gateway/supervisor.js'
import { runWorker } from '../../gateway/worker.js'
import { type Command, CommandError } from './command.js'

export const SERVE_COMMANDS: readonly Command[] = [
  {
    words: ['serve'],
    usage: '',
    about: 'Migrates the database and serves until SIGTERM or SIGINT.',
    positionals: [],
    options: {},
    async run() {
      if (cluster.isWorker) return runWorker(loadSettings(), loadSettings)
      try {
        await superviseWorkers(loadSettings(), (text) => console.log(text))
      } catch (error) {
        throw new CommandError(error instanceof Error ? error.message : String(error), {
          cause: error,
        })
      }
    },
  },
]
