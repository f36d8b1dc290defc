/** Calls of reusable workflows in files. */

import t from 'tap'
import { readCall } from '../../../gateway/workflows/read-call.js'
import { FileFault, parseYaml } from '../../../gateway/workflows/yaml-value.js'

const callOf = (text: string) => readCall(parseYaml(text).map())

t.test('a call names a file of its own commit, or of a ref of another repository', async (t) => {
  t.equal(callOf('steps: []'), undefined)
  t.match(callOf('uses: ./.gitea/workflows/a.yaml'), {
    place: { repository: undefined, file: 'a.yaml' },
    secrets: {},
  })
  t.match(callOf('uses: ada/tools/.gitea/workflows/a.yml@feature/x'), {
    place: { repository: { owner: 'ada', name: 'tools', reference: 'feature/x' }, file: 'a.yml' },
  })
})

t.test('secrets of a call are all of the caller, or named ones and texts', async (t) => {
  const uses = 'uses: ./.gitea/workflows/a.yaml\nsecrets: '
  t.equal(callOf(`${uses}inherit`)?.secrets, 'inherit')
  t.strictSame(
    callOf(`${uses}{ a: "\${{ secrets.key_1 }}", B: "\${{secrets.X}}", c: plain }`)?.secrets,
    {
      A: { secret: 'KEY_1' },
      B: { secret: 'X' },
      C: { text: 'plain' },
    },
  )
})

t.test('a faulty call is refused with the reason', async (t) => {
  const uses = 'uses: ./.gitea/workflows/a.yaml'
  const cases: ReadonlyArray<readonly [text: string, message: RegExp]> = [
    ['uses: actions/checkout@v4', /^uses must be '\.\/\.gitea\/workflows\/FILE\.yaml' or/],
    ['uses: ./.gitea/workflows/../x.yaml', /^uses must be/],
    ['uses: ./.gitea/workflows/a.txt', /^uses must be/],
    ['uses: https://example.org/a/b/.gitea/workflows/a.yaml@v1', /^uses must be/],
    ['uses: a/b/.gitea/workflows/a.yaml', /^uses must be/],
    [`uses: a/b/.gitea/workflows/a.yaml@${'x'.repeat(256)}`, /ref that is too long$/],
    [`${uses}\nruns-on: x`, /^runs-on cannot be there together with 'uses'$/],
    [`${uses}\nsteps: []`, /^steps cannot be there/],
    [`${uses}\nsecrets: all`, /^secrets must be 'inherit' or a map$/],
    [`${uses}\nsecrets: { A: "x\${{ secrets.B }}" }`, /^secrets\.A must be '\$\{\{ secrets/],
    [`${uses}\nwith: x`, /^with must be a map$/],
  ]
  for (const [text, message] of cases) {
    t.throws(() => callOf(text), { constructor: FileFault, message }, text)
  }
})
