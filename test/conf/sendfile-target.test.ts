/** The setting http.sendfile names an internal location of nginx. */

import t from 'tap'
import { asSendfileTarget } from '../../conf/sendfile-target.js'

t.test('the path of a location is read', async (t) => {
  for (const prefix of ['/internal/', '/-/internal/', '/a.b/c_d/']) {
    t.strictSame(asSendfileTarget(`nginx:${prefix}`), { prefix })
  }
})

t.test('a value that names no location below the root is refused', async (t) => {
  const values = ['', '/internal/', 'nginx:', 'nginx:/', 'nginx:/a', 'nginx:a/', 'nginx:/a//']
  const more = ['nginx:/../', 'nginx:/a/./', 'nginx:/a b/', 'nginx:/a\r\nb/', 'apache:/a/', true]
  for (const value of [...values, ...more]) {
    t.throws(() => asSendfileTarget(value), { message: /^must be 'nginx:' / }, String(value))
  }
})
