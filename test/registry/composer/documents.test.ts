/** Documents of a Composer package, with addresses for the base URL of the request. */

import t from 'tap'
import type { FullVersion, JsonObject } from '../../../conf/package.js'
import { parseComposerJson } from '../../../registry/composer/composer-json.js'
import {
  packageDocument,
  provider,
  searchResult,
  serviceIndex,
} from '../../../registry/composer/documents.js'
import { metadataOf } from '../../../registry/composer/metadata.js'
import { parseVersion } from '../../../registry/composer/version.js'

const BASE = 'https://forge.example/api/packages/ada/composer'
const [NAME, SHA1] = ['acme/lib', 'da39a3ee5e6b4b0d3255bfef95601890afd80709']

function aVersion(pretty: string, fields: JsonObject = {}): FullVersion {
  const version = parseVersion(pretty)
  const composerJson = parseComposerJson(Buffer.from(JSON.stringify({ name: NAME, ...fields })))
  const archive = { composerJson, distType: 'zip', extension: '.zip' } as const
  const digests = { md5: '', sha1: SHA1, sha256: '', sha512: '' }
  const file = { id: 1, name: 'a b.zip', compositeKey: '', bytes: 1, digests, blobKey: 'k' }
  return {
    id: 1,
    version: version.key,
    createdAtMs: Date.UTC(2025, 5, 15, 12),
    // Like a value that was read from the database.
    metadata: JSON.parse(JSON.stringify(metadataOf(archive, version))),
    files: [{ ...file, createdAtMs: 0, downloads: 0 }],
  }
}

const about = { name: NAME, baseUrl: BASE, isDev: false }

t.test('the index names the other documents', async (t) => {
  t.strictSame(serviceIndex(BASE), {
    'metadata-url': `${BASE}/p2/%package%.json`,
    list: `${BASE}/list.json`,
    search: `${BASE}/search.json?q=%query%&type=%type%`,
    'providers-api': `${BASE}/providers/%package%.json`,
    'notify-batch': `${BASE}/downloads`,
  })
})

t.test(
  'a record is complete, and fields of the registry override those of the package',
  async (t) => {
    const fields = {
      require: { php: '>=8' },
      extra: { x: 1 },
      dist: { url: 'http://evil.example' },
    }
    t.strictSame(await packageDocument([aVersion('v1.0', fields), aVersion('0.9')], about), {
      packages: {
        [NAME]: [
          {
            name: NAME,
            require: { php: '>=8' },
            extra: { x: 1 },
            type: 'library',
            version: 'v1.0',
            version_normalized: '1.0.0.0',
            time: '2025-06-15T12:00:00Z',
            dist: {
              type: 'zip',
              url: `${BASE}/files/acme%2Flib/1.0.0/a%20b.zip`,
              reference: SHA1,
              shasum: SHA1,
            },
          },
          {
            name: NAME,
            type: 'library',
            version: '0.9',
            version_normalized: '0.9.0.0',
            time: '2025-06-15T12:00:00Z',
            dist: {
              type: 'zip',
              url: `${BASE}/files/acme%2Flib/0.9.0/a%20b.zip`,
              reference: SHA1,
              shasum: SHA1,
            },
          },
        ],
      },
    })
  },
)

t.test('releases and development versions are in separate documents', async (t) => {
  const versions = ['1.0', '1.x-dev', '1.1-beta1', 'dev-main'].map((pretty) => aVersion(pretty))
  const listed = async (isDev: boolean) => {
    const document = await packageDocument(versions, { ...about, isDev })
    return JSON.stringify(document).match(/(?<="version":")[^"]+/g)
  }
  t.strictSame(
    [await listed(false), await listed(true)],
    [
      ['1.0', '1.1-beta1'],
      ['1.x-dev', 'dev-main'],
    ],
  )
  t.strictSame(await packageDocument([], about), { packages: { [NAME]: [] } })
})

t.test('a version has the commit of its tag as its source, if there is such a tag', async (t) => {
  const tags = new Map([
    ['v1.0', 'a'],
    ['2.0', 'b'],
    ['v2.0', 'c'],
    ['3.0', 'd'],
  ])
  const asked: string[] = []
  const source = {
    url: 'https://forge.example/ada/lib.git',
    state: '',
    commitsOf: async (names: readonly string[]) => {
      asked.push(...names)
      return tags
    },
  }
  const versions = ['1.0', '2.0', 'v3.0', '4.0'].map((pretty) => aVersion(pretty))
  const { packages } = await packageDocument(versions, { ...about, source })
  const records = (packages as Record<string, Record<string, unknown>[]>)[NAME] ?? []
  const fromTag = (reference: string) => ({ type: 'git', url: source.url, reference })
  t.strictSame(
    records.map((record) => record['source']),
    [fromTag('a'), fromTag('b'), fromTag('d'), undefined],
  )
  t.strictSame(asked, ['1.0', 'v1.0', '2.0', 'v2.0', 'v3.0', '3.0', '4.0', 'v4.0'])
})

t.test('a provider has its name, description and type', (t) => {
  const latest = aVersion('1.0', { type: 'project', description: 'x' })
  const found = { id: 1, name: NAME, generation: 1, changedAtMs: 0, downloads: 3, latest }
  t.strictSame(provider(found), { name: NAME, description: 'x', type: 'project' })
  t.end()
})

t.test("a search result has the package's description and replacement", async (t) => {
  const found = (fields: JsonObject) => {
    const latest = aVersion('1.0', fields)
    return searchResult({
      id: 1,
      name: NAME,
      generation: 1,
      changedAtMs: 0,
      downloads: 3,
      latest,
    })
  }
  const bare = { name: NAME, description: '', downloads: 3 }
  t.strictSame(found({}), bare)
  t.strictSame(found({ description: 'x', abandoned: false }), { ...bare, description: 'x' })
  for (const abandoned of [true, 'acme/new']) {
    t.strictSame(found({ abandoned }), { ...bare, abandoned })
  }
})
