/** Gatehouse as a Debian repository: uploads over the API, indexes requested as apt does. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { DebFile } from './deb-files.js'
import { COMPONENT, type DebianSide, DISTRIBUTION, LIST } from './debian-side.js'
import { type Gatehouse, OWNER } from './gatehouse.js'

const CONCURRENCY = 8

/** Returns the side for the owner's registry, which must be empty. */
export function asDebianSide(
  gatehouse: Pick<Gatehouse, 'url' | 'token' | 'cpu' | 'stop'>,
): DebianSide {
  const base = `${gatehouse.url}/api/packages/${OWNER}/debian`
  const authorization = `token ${gatehouse.token}`
  const put = async ({ path }: DebFile) => {
    const url = `${base}/pool/${DISTRIBUTION}/${COMPONENT}/upload`
    await ask(url, { status: 201, authorization, body: await readFile(path) })
  }
  const readList = async () => {
    const dists = `${base}/dists/${DISTRIBUTION}`
    const signed = await ask(`${dists}/InRelease`, { status: 200 })
    const digest = digestOfList(signed.toString())
    const folder = LIST.slice(0, LIST.lastIndexOf('/'))
    const list = await ask(`${dists}/${folder}/by-hash/SHA256/${digest}`, { status: 200 })
    if (createHash('sha256').update(list).digest('hex') === digest) return list
    throw new Error(`${LIST} does not have the digest in InRelease: ${list.length} bytes`)
  }
  return {
    name: 'gatehouse',
    cpu: gatehouse.cpu,
    stop: () => gatehouse.stop(),
    async fill(_, debs) {
      const left = [...debs].reverse()
      const putOneByOne = async () => {
        for (let deb = left.pop(); deb !== undefined; deb = left.pop()) await put(deb)
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, putOneByOne))
      await readList()
    },
    async add(deb) {
      await put(deb)
      return readList()
    },
  }
}

/** Returns the list's digest in the field "SHA256" (Debian repository format, "Release files"). */
function digestOfList(release: string): string {
  const section = /^SHA256:\n((?: .*\n)+)/m.exec(release)?.[1] ?? ''
  const fields = section.split('\n').map((line) => line.trim().split(/\s+/))
  const digest = fields.find(([, , path]) => path === LIST)?.[0]
  if (digest === undefined) throw new Error(`InRelease does not name ${LIST}: ${release}`)
  return digest
}

interface RequestOptions {
  /** Expected status; any other is an error. */
  readonly status: number
  readonly authorization?: string
  /** Body of a PUT; absent for a GET. */
  readonly body?: Uint8Array
}

/** Sends a request on a new connection, as independent clients do. */
function ask(url: string, { status, authorization, body }: RequestOptions): Promise<Buffer> {
  const headers = {
    ...(authorization === undefined ? {} : { Authorization: authorization }),
    ...(body === undefined ? {} : { 'Content-Length': body.length }),
  }
  const method = body === undefined ? 'GET' : 'PUT'
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent: false, method, headers }, (response) => {
      buffer(response).then((bytes) => {
        if (response.statusCode === status) return resolve(bytes)
        reject(new Error(`${url} returned ${response.statusCode}: ${bytes.toString()}`))
      }, reject)
    })
    outgoing.on('error', reject).end(body)
  })
}
