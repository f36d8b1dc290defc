/** Pictures of accounts, organizations and repositories over the API. */

import { createHash } from 'node:crypto'
import { PNG } from 'pngjs'
import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import {
  type GatewayWithUsers,
  startGatewayWithUsers,
} from '../../../helpers/gateway-with-users.js'
import { aPicture, aPictureThatClaims } from '../../../helpers/pictures.js'

const md5 = (text: string) => createHash('md5').update(text).digest('hex')

/** Returns functions that read the address of a picture, and the picture of an address. */
function readersOf({ as, ask }: GatewayWithUsers) {
  return {
    addressOf: async (path: string, name: 'ada' | 'anyone' = 'anyone') => {
      const { json } = await as(name, 'GET', path)
      return (json as { avatar_url: string }).avatar_url
    },
    download: async (address: string) => {
      t.ok(address.startsWith(`${BASE_URL}/`), address)
      return await ask({ path: address.slice(BASE_URL.length) })
    },
  }
}

await onOneDatabase(
  t,
  'accounts and organizations without a picture have an identicon of their own',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { addressOf, download } = readersOf(gateway)
    await gateway.as('ada', 'POST', '/orgs', { username: 'club' })
    const own = await addressOf('/user', 'ada')
    t.equal(own, `${BASE_URL}/avatars/${md5('ada@example.com')}`)
    const seen = await addressOf('/users/ada')
    t.not(seen, own, 'the hash of a hidden address is not shown')
    t.notMatch(await addressOf('/orgs/club'), seen)
    const pictures = []
    for (const address of [own, seen, await addressOf('/orgs/club')]) {
      const reply = await download(address)
      t.equal(reply.status, 200)
      t.equal(reply.headers['content-type'], 'image/png')
      const { width, height } = PNG.sync.read(reply.bytes)
      t.strictSame([width, height], [120, 120])
      pictures.push(reply.bytes.toString('base64'))
    }
    t.equal(new Set(pictures).size, 3)
    for (const path of ['/avatars/x', `/avatars/${'F'.repeat(32)}`, `/repo-avatars/${md5('')}`]) {
      t.equal((await gateway.ask({ path })).status, 404, path)
    }
  },
)

await onOneDatabase(
  t,
  'an uploaded picture is served as a square PNG until it is deleted',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { as } = gateway
    const { addressOf, download } = readersOf(gateway)
    await as('ada', 'POST', '/orgs', { username: 'club' })
    await as('ada', 'POST', '/user/repos', { name: 'r' })
    const image = aPicture().toString('base64')
    for (const [place, object] of [
      ['/user/avatar', '/users/ada'],
      ['/orgs/club/avatar', '/orgs/club'],
      ['/repos/ada/r/avatar', '/repos/ada/r'],
    ] as const) {
      const before = await addressOf(object)
      t.equal((await as('ada', 'POST', place, { image })).status, 204, place)
      const first = await addressOf(object)
      t.not(first, before)
      const { status, headers, bytes } = await download(first)
      t.strictSame([status, headers['content-type']], [200, 'image/png'])
      const { width, height, data } = PNG.sync.read(bytes)
      t.strictSame([width, height, ...data.subarray(0, 4)], [256, 256, 200, 0, 0, 255])
      const other = aPicture({ red: 9 }).toString('base64')
      t.equal((await as('ada', 'POST', place, { image: other })).status, 204)
      t.not(await addressOf(object), first)
      t.equal((await as('ada', 'DELETE', place)).status, 204)
      t.equal((await as('ada', 'DELETE', place)).status, 204, 'again')
      t.equal(await addressOf(object), before)
    }
    t.equal(await addressOf('/repos/ada/r'), '')
  },
)

await onOneDatabase(
  t,
  'pictures that cannot be read and callers without permission are refused',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/orgs', { username: 'club' })
    await as('ada', 'POST', '/user/repos', { name: 'r' })
    const upload = (bytes: Uint8Array) =>
      as('ada', 'POST', '/user/avatar', { image: Buffer.from(bytes).toString('base64') })
    const invalid = { message: 'The image is not a valid PNG, JPEG or GIF image.' }
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')
    for (const bytes of [Buffer.alloc(0), svg, aPicture().subarray(0, 60)]) {
      t.match(await upload(bytes), { status: 422, json: invalid })
    }
    t.match(await upload(aPictureThatClaims(4_096, 4_096)), { status: 422, json: invalid })
    t.match(await upload(aPictureThatClaims(20_000, 1)), {
      status: 422,
      json: { message: /has 20000 × 1 pixels, but at most 4096 × 4096 are permitted/ },
    })
    t.equal((await as('ada', 'POST', '/user/avatar', { image: 'no base64!' })).status, 400)
    t.equal((await upload(Buffer.alloc(1_048_580))).status, 422)
    const image = aPicture().toString('base64')
    t.equal((await as('anyone', 'POST', '/user/avatar', { image })).status, 401)
    t.equal((await as('bob', 'POST', '/orgs/club/avatar', { image })).status, 403)
    t.equal((await as('bob', 'POST', '/repos/ada/r/avatar', { image })).status, 403)
    t.equal((await as('bob', 'DELETE', '/repos/ada/r/avatar')).status, 403)
  },
)
