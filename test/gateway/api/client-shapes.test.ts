/** Objects of the API beside what the client generated from Gitea's description declares. */

import t from 'tap'
import { describeApi } from '../../../gateway/api/swagger.js'
import { OPERATIONS } from '../../../gateway/api/v1/operations.js'
import { declaredShapes, type Shape } from '../../helpers/client-declarations.js'
import { isExpected } from '../../helpers/expected.js'

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
}

function shapeOf({ properties = {} }: Schema): Shape {
  const typeOf = ({ type = 'object' }: Schema) => (type === 'integer' ? 'number' : type)
  return Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, typeOf(of)]))
}

t.test('what is not as that client declares it is known, field by field', async (t) => {
  const { definitions } = describeApi(OPERATIONS, '') as { definitions: Record<string, Schema> }
  const declared = declaredShapes()
  const differences: Record<string, Record<string, string>> = {}
  for (const [name, schema] of Object.entries(definitions)) {
    const [ours, theirs] = [shapeOf(schema), declared.get(name)]
    const found: Record<string, string> = theirs === undefined ? { '*': 'not declared' } : {}
    for (const field of Object.keys({ ...ours, ...theirs })) {
      const [type, wanted] = [ours[field], theirs?.[field]]
      if (theirs === undefined || type === wanted || wanted === 'any') continue
      if (type === undefined) found[field] = 'not served'
      else found[field] = wanted === undefined ? 'not declared' : `${type}, declared as ${wanted}`
    }
    if (Object.keys(found).length > 0) differences[name] = found
  }
  isExpected(t, differences, 'api/differences-from-gitea-js')
  t.notMatch(JSON.stringify(differences), /declared as/, 'no field has another type')
})
