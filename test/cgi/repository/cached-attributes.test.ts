/** File systems whose cached attributes hide changes by other machines. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import {
  cachesAttributes,
  cachingMountOf,
  parseMounts,
} from '../../../cgi/repository/cached-attributes.js'
import { readPresentState } from '../../../cgi/repository/repository-state.js'
import { makeDevice, replaceDevice, replaceMounts } from '../../helpers/mounts.js'
import { temporaryFolder } from '../../helpers/temporary.js'

/** A line as /proc/self/mountinfo has it, for a mount with these options of its file system. */
const lineOf = (type: string, options: string) =>
  `36 35 0:41 / /srv rw,noatime shared:1 - ${type} server:/srv rw,vers=4.2,${options}`

t.test('a network file system without the options that switch its cache off', async (t) => {
  const expected: ReadonlyArray<readonly [line: string, isCaching: boolean]> = [
    [lineOf('nfs4', 'rsize=1048576,hard'), true],
    [lineOf('nfs', 'acregmin=3,acregmax=60'), true],
    [lineOf('nfs4', 'acregmin=0,acregmax=0'), true],
    [lineOf('nfs4', 'noac,hard'), false],
    [lineOf('nfs4', 'acregmin=0,acregmax=0,acdirmin=0,acdirmax=0,noac'), false],
    [lineOf('nfs4', 'acregmin=0,acregmax=0,acdirmin=0,acdirmax=0'), false],
    [lineOf('cifs', 'actimeo=1'), true],
    [lineOf('cifs', 'actimeo=0'), false],
    [lineOf('fuse.sshfs', 'user_id=0'), true],
    [lineOf('ceph', 'name=admin'), false],
    [lineOf('ext4', 'errors=remount-ro'), false],
    [lineOf('tmpfs', 'size=1k'), false],
  ]
  for (const [line, isCaching] of expected) {
    t.strictSame(parseMounts(line).map(cachesAttributes), [isCaching], line)
  }
})

t.test('a line without optional fields, with several, and an incomplete one', async (t) => {
  const text = `1 0 8:1 / / rw - ext4 /dev/sda1 rw
2 1 0:5 / /a\\040b rw shared:1 master:2 - nfs4 h:/x rw,noac

3 1 0:6`
  t.strictSame(parseMounts(text), [
    { device: '8:1', type: 'ext4', options: ['rw'] },
    { device: '0:5', type: 'nfs4', options: ['rw', 'noac'] },
  ])
})

t.test('the mount of a device is found by its number', async (t) => {
  const [small, large] = [makeDevice(0, 41), makeDevice(4_097, 65_793)]
  const other = lineOf('cifs', 'actimeo=1').replace('0:41', '4097:65793')
  t.teardown(replaceMounts(`${lineOf('nfs4', 'hard')}\n${other}`))
  t.equal(cachingMountOf(small)?.type, 'nfs4')
  t.equal(cachingMountOf(large)?.type, 'cifs')
  t.equal(cachingMountOf(makeDevice(0, 42)), undefined)
})

t.test('a repository on a file system that caches attributes has no state', async (t) => {
  const path = join(await temporaryFolder(t), 'one.git')
  await mkdir(join(path, 'refs/heads'), { recursive: true })
  await writeFile(join(path, 'HEAD'), 'ref: refs/heads/main\n')
  t.teardown(replaceMounts(lineOf('nfs4', 'hard')))
  // A device of its own, because a device is looked up once for all tests of this process.
  t.teardown(replaceDevice(makeDevice(0, 41)))
  t.equal(readPresentState(path), undefined)
})
