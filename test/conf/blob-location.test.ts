/** Locations of blobs are parsed or refused; the message does not repeat the value. */

import { resolve } from 'node:path'
import t from 'tap'
import { asBlobLocation } from '../../conf/blob-location.js'

t.test('a file location may be relative or absolute', async (t) => {
  t.strictSame(asBlobLocation('file:/srv/blobs'), { kind: 'files', folder: '/srv/blobs' })
  t.strictSame(asBlobLocation('file:///srv/blobs'), { kind: 'files', folder: '/srv/blobs' })
  t.strictSame(asBlobLocation('file:blobs'), { kind: 'files', folder: resolve('blobs') })
})

t.test(
  'an S3 location uses TLS and the region us-east-1 and has no prefix by default',
  async (t) => {
    t.strictSame(asBlobLocation('s3://key:secret@s3.example.org/packages'), {
      kind: 's3',
      origin: 'https://s3.example.org',
      bucket: 'packages',
      prefix: '',
      region: 'us-east-1',
      accessKey: 'key',
      secretKey: 'secret',
    })
  },
)

t.test('an S3 location sets port, prefix, region and plain HTTP', async (t) => {
  const url = 's3://a%3Ab:p%40%2F%25+@[::1]:9000/my-bucket/code/blobs?region=eu-west-3&tls=false'
  t.strictSame(asBlobLocation(url), {
    kind: 's3',
    origin: 'http://[::1]:9000',
    bucket: 'my-bucket',
    prefix: 'code/blobs/',
    region: 'eu-west-3',
    accessKey: 'a:b',
    secretKey: 'p@/%+',
  })
})

t.test('a value that is not a location is refused and not repeated in the message', async (t) => {
  for (const value of ['file:', 'hunter2', 'ftp://hunter2/blobs', '', 1, null, undefined]) {
    t.throws(() => asBlobLocation(value), { message: /^must (?!.*hunter2)/ }, String(value))
  }
})

t.test('each mistake in an S3 location is named without repeating the credentials', async (t) => {
  const mistakes: readonly (readonly [string, RegExp])[] = [
    ['s3:', /s3:\/\/key/],
    ['s3://', /s3:\/\/key/],
    ['s3://key:hunter2@host:port/bucket', /%40 for @/],
    ['s3://key:hunter2@/bucket', /s3:\/\/key/],
    ['s3://key:hunter2@host/bucket#hunter2', /s3:\/\/key/],
    ['s3://host/hunter2', /must have key and secret/],
    ['s3://hunter2@host/bucket', /must have key and secret/],
    ['s3://:hunter2@host/bucket', /must have key and secret/],
    ['s3://key:hunter2@host', /bucket/],
    ['s3://key:hunter2@host/', /bucket/],
    ['s3://key:hunter2@host/b', /bucket/],
    ['s3://key:hunter2@host/buck%2Fet', /bucket/],
    ['s3://key:hunter2@host/bucket/', /prefix/],
    ['s3://key:hunter2@host/bucket//x', /prefix/],
    ['s3://key:hunter2@host/bucket/x/', /prefix/],
    ['s3://key:hunter2@host/bucket/%20', /prefix/],
    ['s3://key:hunter2@host/bucket?region=hunter2%2F', /region/],
    ['s3://key:hunter2@host/bucket?region=', /region/],
    ['s3://key:hunter2@host/bucket?tls=hunter2', /tls=true or tls=false/],
    ['s3://key:hunter2@host/bucket?hunter2=1', /only region, tls after \?/],
    ['s3://key:hunter2%@host/bucket', /%25 for %/],
  ]
  for (const [url, named] of mistakes) {
    t.throws(() => asBlobLocation(url), { message: named }, url)
    t.throws(() => asBlobLocation(url), { message: /^must (?!.*hunter2)/ }, url)
  }
})
