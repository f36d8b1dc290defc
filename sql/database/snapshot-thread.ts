/** Thread that copies an SQLite database by `VACUUM INTO`, which is one read transaction. */

import { workerData } from 'node:worker_threads'
import SqliteDatabase from 'better-sqlite3'

const BUSY_TIMEOUT_MS = 10_000

const { from, into } = workerData as { readonly from: string; readonly into: string }
const connection = new SqliteDatabase(from, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
try {
  connection.prepare('VACUUM INTO ?').run(into)
} finally {
  connection.close()
}
