/** Each side of the index benchmark publishes its packages in a signed index. */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { startAptlyPeer } from '../../../scripts/benchmarks/aptly-peer.js'
import { type DebFile, writeDebs } from '../../../scripts/benchmarks/deb-files.js'
import type { DebianSide } from '../../../scripts/benchmarks/debian-side.js'
import { asDebianSide } from '../../../scripts/benchmarks/gatehouse-debian.js'
import { startRepreproPeer } from '../../../scripts/benchmarks/reprepro-peer.js'
import { createCpuGroup } from '../../../scripts/benchmarks/server.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const { signal } = new AbortController()

function namesIn(list: Buffer): readonly string[] {
  const lines =
    gunzipSync(list)
      .toString()
      .match(/^Package: .*$/gm) ?? []
  return lines.map((line) => line.slice('Package: '.length)).toSorted()
}

function namesOf(debs: readonly (DebFile | undefined)[]): readonly string[] {
  return debs.map((deb) => deb?.packageName ?? '').toSorted()
}

/** Gives a side four packages, adds two, and returns the last Packages list. */
async function fillAndAdd(t: Test, side: DebianSide, folder: string): Promise<Buffer> {
  const filled = await writeDebs(join(folder, 'filled'), { first: 0, count: 4 })
  const [one, other] = await writeDebs(join(folder, 'added'), { first: 4, count: 2 })
  if (one === undefined || other === undefined) throw new Error('two were not written')
  await side.fill(join(folder, 'filled'), filled)
  t.strictSame(namesIn(await side.add(one)), namesOf([...filled, one]))
  const list = await side.add(other)
  t.strictSame(namesIn(list), namesOf([...filled, one, other]))
  return list
}

for (const { start, published } of [
  { start: startAptlyPeer, published: 'aptly/public' },
  { start: startRepreproPeer, published: 'reprepro' },
]) {
  t.test(`${published}: the index is signed and names the list`, async (t) => {
    const folder = await temporaryFolder(t)
    const side = await start({ folder, signal })
    t.teardown(() => side.stop())
    const list = await fillAndAdd(t, side, folder)
    const file = join(folder, published, 'dists', 'stable', 'InRelease')
    const GNUPGHOME = join(folder, side.name, 'gnupg')
    const env = { PATH: process.env['PATH'], GNUPGHOME }
    const signed = execFileSync('gpg', ['--decrypt', file], { env, stdio: 'pipe' }).toString()
    const digest = createHash('sha256').update(list).digest('hex')
    t.match(signed, ` ${digest} `)
    t.equal(await readFile(file, 'utf8').then((text) => text.includes('BEGIN PGP SIGNATURE')), true)
    t.ok(existsSync(join(GNUPGHOME, 'S.gpg-agent')), 'the gpg-agent of its own home has signed')
    await side.stop()
    t.notOk(existsSync(join(GNUPGHOME, 'S.gpg-agent')), 'the agent ends with the side')
  })

  t.test(`${published}: a refused package is an error with the server's message`, async (t) => {
    const folder = await temporaryFolder(t)
    const side = await start({ folder, signal })
    t.teardown(() => side.stop())
    const path = join(folder, 'absent.deb')
    await t.rejects(side.add({ packageName: 'absent', version: '1', path }), /absent\.deb/)
  })
}

t.test('gatehouse: the list matches its InRelease', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { plain: token } = await gateway.addToken(gateway.ada, 'all')
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'own'))
  const cpu = await createCpuGroup('test')
  t.teardown(() => cpu.remove())
  const url = `http://127.0.0.1:${gateway.port}`
  const stop = async () => {}
  await fillAndAdd(t, asDebianSide({ url, token, cpu, stop }), join(folder, 'own'))
  const unauthorized = asDebianSide({ url, token: 'x', cpu, stop })
  const [deb] = await writeDebs(join(folder, 'more'), { first: 9, count: 1 })
  if (deb === undefined) throw new Error('none was written')
  await t.rejects(unauthorized.add(deb), /returned 401/)
})
