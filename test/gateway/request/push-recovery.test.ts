/** Repositories of interrupted pushes are recovered without a restart. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { t } from 'tap'
import { openJournal } from '../../../cgi/maintenance/journal.js'
import { createLog } from '../../../conf/log.js'
import { createPushRecovery } from '../../../gateway/request/push-recovery.js'
import { until } from '../../helpers/server-processes.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test(
  'leftovers of two interrupted pushes are removed, also of one reported during recovery',
  async (t) => {
    const dataDir = await temporaryFolder(t)
    const journal = await openJournal(dataDir)
    const pushRecovery = createPushRecovery(dataDir, createLog({ level: 'silent', format: 'json' }))
    const quarantines: string[] = []
    for (const name of ['one', 'two']) {
      const repositoryPath = join(dataDir, `${name}.git`)
      const quarantine = join(repositoryPath, 'objects', 'tmp_objdir-incoming-abc')
      await mkdir(quarantine, { recursive: true })
      quarantines.push(quarantine)
      const child = spawn('sleep', ['60'], { stdio: 'ignore' })
      const { pid = 0 } = child
      await journal.record({ repositoryPath, pid })
      child.kill()
      await once(child, 'exit')
      pushRecovery.recoverPushes()
    }
    const left = await until(
      async () => quarantines.filter((path) => existsSync(path)),
      (paths) => paths.length === 0,
      20_000,
    )
    t.strictSame(left, [])
  },
)
