/** Comparison of two revisions in all forms that clients send. */

import t from 'tap'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'

t.test('a comparison has the commits of head that base lacks', async (t) => {
  const { get, commits } = await startGatewayWithRepository(t)
  const [first, second, third] = commits
  const compared = async (rest: string) => {
    const { status, json } = await get(`compare/${rest}`)
    if (status !== 200) return status
    const { total_commits, commits } = json as { total_commits: number; commits: { sha: string }[] }
    t.equal(total_commits, commits.length, rest)
    return commits.map(({ sha }) => sha)
  }
  for (const both of ['v1...main', 'v1..main', `${first}...${third}`, 'ada:v1...ADA:main']) {
    t.strictSame(await compared(both), [third, second], both)
  }
  t.strictSame(await compared('feature/x...main'), [third])
  t.strictSame(await compared('feature%2Fx...main'), [third])
  t.strictSame(await compared('main...v1'), [])
  t.strictSame(await compared('feature/x'), [])
  const odd = ['absent...main', 'main...absent', 'bob:main...main', 'a...b...c', 'main...--all']
  for (const rest of [...odd, '--output=x...main', 'main...main~1', '']) {
    t.equal(await compared(rest), 404, rest)
  }
  const { json } = await get('compare/feature/x...main')
  t.match(json, { commits: [{ stats: { additions: 2 }, author: { login: 'ada' } }] })
})
