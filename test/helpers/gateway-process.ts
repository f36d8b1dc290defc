/** A gateway to be killed: serves the repositories of a folder, its pushes in the journal. */

import { findGit } from '../../cgi/git.js'
import { openJournal } from '../../cgi/journal.js'
import { serveBackend } from './backend-server.js'

const folder = process.argv[2] ?? ''
const journal = await openJournal(folder)
const server = await serveBackend(await findGit(), { folder, journal })
process.stdout.write(`${server.url}\n`)
