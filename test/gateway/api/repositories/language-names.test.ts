/** Languages of files are derived from their names. */

import t from 'tap'
import { languageOf } from '../../../../gateway/api/repositories/language-names.js'

t.test('the language follows from ending or name, and vendored files have none', async (t) => {
  t.equal(languageOf('src/a.ts'), 'TypeScript')
  t.equal(languageOf('A.TS'), 'TypeScript')
  t.equal(languageOf('tools/Dockerfile'), 'Dockerfile')
  t.equal(languageOf('CMakeLists.txt'), 'CMake')
  const none = ['a', 'README.md', 'constructor', 'x.constructor', 'vendor/a.go', 'web/a.min.js']
  for (const path of [...none, 'a/node_modules/b/c.js']) t.equal(languageOf(path), undefined, path)
})
