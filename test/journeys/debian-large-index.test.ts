/** Large indexes: apt reads an index that is stored in many pieces, in each compression. */

import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { newAptRoot } from '../helpers/apt-client.js'
import { controlOf, debOf } from '../helpers/debs.js'
import type { Person } from '../helpers/gatehouse.js'
import { startGateway } from '../helpers/gateway.js'
import { addPerson } from '../helpers/person.js'
import { isFullSize } from '../helpers/test-size.js'

const UPLOADS_AT_ONCE = 8

/** Number of packages: runs of the index begin at publications 119, 143, 326 and 334. */
const PACKAGES = isFullSize ? 900 : 160

interface Repository {
  readonly url: string
  readonly ada: Person
}

async function openRepository(t: Test): Promise<Repository> {
  // A key of the default type takes half a second.
  const environment = { GATEHOUSE_PACKAGES_DEBIAN_SIGNING_KEY: 'ed25519' }
  const gateway = await startGateway(t, { environment })
  const ada = await addPerson(gateway, 'ada')
  return { url: `http://127.0.0.1:${gateway.port}/api/packages/ada/debian`, ada }
}

async function upload({ url, ada }: Repository, name: string): Promise<void> {
  const body = debOf({ control: controlOf({ Package: name }) })
  const answer = await fetch(`${url}/pool/stable/main/upload`, {
    method: 'PUT',
    headers: { authorization: `token ${ada.token}` },
    body: new Uint8Array(body),
  })
  if (answer.status !== 201) throw new Error(`${name} was answered ${answer.status}`)
}

t.test('apt lists all packages of a large index, and newly added ones', async (t) => {
  const repository = await openRepository(t)
  const names = Array.from({ length: PACKAGES }, (_, at) => `package-${at}`)
  const waiting = names.values()
  await Promise.all(
    Array.from({ length: UPLOADS_AT_ONCE }, async () => {
      for (const name of waiting) await upload(repository, name)
    }),
  )
  const key = await fetch(`${repository.url}/repository.key`)
  const options = {
    key: new Uint8Array(await key.arrayBuffer()),
    sources: [`deb [signed-by=KEY] ${repository.url} stable main`],
  }
  const roots = await Promise.all(['xz', 'gz'].map(() => newAptRoot(t, options)))
  for (const added of ['later', 'last']) {
    for (const [at, packing] of ['xz', 'gz'].entries()) {
      const root = roots[at]
      const order = `Acquire::CompressionTypes::Order::=${packing}`
      if (added === 'later') {
        const update = await root?.get('update', '-o', order, '--print-uris')
        t.match(
          update?.output,
          new RegExp(`Packages\\.${packing}`),
          'this compression is requested',
        )
      }
      const { exitCode, output } = (await root?.get('update', '-o', order)) ?? { output: '' }
      t.equal(exitCode, 0, output)
      t.notMatch(output, /^[WE]:/m)
      const listed = (await root?.cache('pkgnames'))?.output.trim().split('\n').sort()
      t.strictSame(listed, names.toSorted(), packing)
    }
    await upload(repository, added)
    names.push(added)
  }
  const release = await (await fetch(`${repository.url}/dists/stable/Release`)).text()
  for (const path of ['', '.gz', '.xz'].map((suffix) => `main/binary-amd64/Packages${suffix}`)) {
    const answer = await fetch(`${repository.url}/dists/stable/${path}`)
    const bytes = Buffer.from(await answer.arrayBuffer())
    const digest = createHash('sha256').update(bytes).digest('hex')
    t.ok(release.includes(` ${digest} ${bytes.length} ${path}\n`), path)
  }
})
