/** Errors of full disks become `insufficient_storage`, and other errors do not. */

import t from 'tap'
import { diskFailureOf, insufficientStorage, saysDiskIsFull } from '../../conf/disk-failure.js'
import { Failure } from '../../conf/failures.js'

function coded(code: string, message = 'a message'): Error {
  return Object.assign(new Error(message), { code })
}

t.test('error codes, messages of programs and causes show that the disk is full', async (t) => {
  const errors = [
    ...['ENOSPC', 'EROFS', 'SQLITE_FULL', 'SQLITE_READONLY'].map((code) => coded(code)),
    ...['ER_DISK_FULL', 'ER_RECORD_FILE_FULL'].map((code) => coded(code)),
    // Node.js reports a write beyond the quota like this.
    Object.assign(coded('Unknown system error -122'), { errno: -122 }),
    coded('ER_ERROR_ON_WRITE', 'Error writing file \'x\' (Errcode: 28 "No space left on device")'),
    new Error('git hash-object failed (128): fatal: write error: Disk quota exceeded'),
    new Error("git repack failed (128): fatal: sha1 file 'x' write error. Out of diskspace"),
    new Error('git init failed (128): cannot mkdir: Read-only file system'),
    new Error('outer', { cause: new Error('inner', { cause: coded('ENOSPC') }) }),
  ]
  for (const error of errors) {
    const failure = diskFailureOf(error)
    t.match(failure, { failure: 'insufficient_storage', status: 507, retryAfterSeconds: 60 })
    t.equal(failure?.cause, error)
    t.notMatch(failure?.message, /git|inner/, 'the message has no internal detail')
  }
})

t.test('other errors do not show that the disk is full', async (t) => {
  const errors = [
    ...['EACCES', 'EIO', 'SQLITE_BUSY', 'SQLITE_IOERR_FSYNC'].map((code) => coded(code)),
    coded('ER_DUP_ENTRY', "Duplicate entry 'No space left on device' for key 'name'"),
    new Error('git hash-object failed (128): fatal: bad object'),
    'No space left on device',
    undefined,
    { code: 'ENOSPC' },
  ]
  for (const error of errors) t.equal(diskFailureOf(error), undefined, String(error))
})

t.test('an error that is already insufficient_storage is returned unchanged', async (t) => {
  const failure = insufficientStorage()
  t.equal(diskFailureOf(failure), failure)
  t.equal(diskFailureOf(new Failure('not_found', 'x')), undefined)
})

t.test('a cyclic chain of causes ends', async (t) => {
  const endless = new Error('endless')
  endless.cause = endless
  t.equal(diskFailureOf(endless), undefined)
})

t.test("a program's error text alone shows that the disk is full", async (t) => {
  t.ok(saysDiskIsFull('error: file write error: No space left on device\nfatal: x\n'))
  t.notOk(saysDiskIsFull('fatal: not a git repository\n'))
})
