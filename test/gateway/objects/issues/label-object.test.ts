/** Label objects and inputs. */

import t from 'tap'
import {
  labelObject,
  readLabel,
  readLabelPatch,
} from '../../../../gateway/objects/issues/label-object.js'
import { BASE_URL, openContext } from '../../../helpers/gateway.js'

t.test('the address of a label is that of its repository or organization', async (t) => {
  const { context, fixture } = await openContext(t)
  const owner = await fixture.addUser('ada')
  const fields = readLabel({ name: ' bug ', color: '#EE0701' })
  const label = { ...fields, id: 7 }
  const own = labelObject(context, { ...label, owner: { repositoryId: 1 } }, { owner, name: 'r' })
  t.match(own, { name: 'bug', color: 'ee0701', url: `${BASE_URL}/api/v1/repos/ada/r/labels/7` })
  const ofAll = { ...label, owner: { organizationId: 1 } }
  for (const place of [{ owner, name: 'r' }, { owner }]) {
    t.equal(labelObject(context, ofAll, place).url, `${BASE_URL}/api/v1/orgs/ada/labels/7`)
  }
})

t.test('a color is normalized to six digits', async (t) => {
  for (const color of ['#aBc', 'abc', 'AABBCC', ' #aabbcc ']) {
    t.equal(readLabel({ name: 'x', color }).color, 'aabbcc', color)
  }
  for (const color of [
    '',
    '#',
    '#ab',
    '#abcd',
    'aabbccdd',
    '##abc',
    '#abc\n#abc',
    'ａｂｃ',
    '-abc',
  ]) {
    t.throws(() => readLabel({ name: 'x', color }), { message: /^\[Color\]/ }, encodeURI(color))
    t.throws(() => readLabelPatch({ color }), { message: /^\[Color\]/ })
  }
  const nothing = { name: undefined, color: undefined, description: undefined }
  t.match(readLabelPatch({}), { ...nothing, isExclusive: undefined, isArchived: undefined })
})
