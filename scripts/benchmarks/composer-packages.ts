/** Composer packages for benchmarks: small zip archives, published over the API. */

import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'
import { type Gatehouse, OWNER } from './gatehouse.js'

const CONCURRENCY = 4

/** Publishes `count` versions, from `1.0.0` on. Returns their names. */
export async function publishVersions(
  gatehouse: Pick<Gatehouse, 'url' | 'token'>,
  packageName: string,
  count: number,
): Promise<readonly string[]> {
  const versions = Array.from({ length: count }, (_, index) => `1.${index}.0`)
  const left = [...versions]
  const publishOneByOne = async () => {
    for (let version = left.shift(); version !== undefined; version = left.shift()) {
      await publish(gatehouse, await zipOf({ ...ABOUT, name: packageName, version }))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, publishOneByOne))
  return versions
}

/** Metadata of a small library in composer.json. */
const ABOUT = {
  description: 'A library to measure with, which does what it says and nothing else.',
  type: 'library',
  license: 'MIT',
  keywords: ['bench', 'library'],
  authors: [{ name: 'Ada', email: 'ada@example.com' }],
  require: { php: '>=8.1', 'psr/log': '^3.0', 'psr/container': '^2.0' },
  'require-dev': { 'phpunit/phpunit': '^10.0' },
  autoload: { 'psr-4': { 'Bench\\Library\\': 'src/' } },
}

/** Returns a zip archive with one `composer.json`. */
async function zipOf(about: object): Promise<Buffer> {
  const zip = new ZipFile()
  zip.addBuffer(Buffer.from(JSON.stringify(about)), 'composer.json')
  zip.end()
  return buffer(zip.outputStream)
}

async function publish(
  { url, token }: Pick<Gatehouse, 'url' | 'token'>,
  body: Buffer,
): Promise<void> {
  const response = await fetch(`${url}/api/packages/${OWNER}/composer`, {
    method: 'PUT',
    headers: { Authorization: `token ${token}` },
    body: new Uint8Array(body),
  })
  if (response.status !== 201) throw new Error(`no version was published: ${await response.text()}`)
  await response.arrayBuffer()
}
