/** Process for tests that kill it: serves a folder's repositories and records pushes. */

import { openJournal } from '../../cgi/maintenance/journal.js'
import { findGit } from '../../cgi/process/git.js'
import { serveBackend } from './backend-server.js'

const folder = process.argv[2] ?? ''
const journal = await openJournal(folder)
const server = await serveBackend(await findGit(), { folder, journal })
process.stdout.write(`${server.url}\n`)
