/** Journal entries exist exactly while the work on a repository runs. */

import { join } from 'node:path'
import t from 'tap'
import { withJournalEntry } from '../../../cgi/maintenance/at-work.js'
import { listJournalEntries, openJournal } from '../../../cgi/maintenance/journal.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test(
  'the journal entry is written before the work begins and removed after success and after failure',
  async (t) => {
    const dataDir = await temporaryFolder(t)
    const journal = await openJournal(dataDir)
    const repositoryPath = join(dataDir, 'x.git')
    const noted = async () => [...(await listJournalEntries(dataDir)).values()]
    const found = await withJournalEntry(journal, repositoryPath, noted)
    t.match(found, [{ repositoryPath, leader: { pid: process.pid }, isUpkeep: undefined }])
    t.strictSame(await noted(), [])
    const failing = withJournalEntry(journal, repositoryPath, () =>
      Promise.reject(new Error('failed')),
    )
    await t.rejects(failing, { message: 'failed' })
    t.strictSame(await noted(), [])
  },
)
