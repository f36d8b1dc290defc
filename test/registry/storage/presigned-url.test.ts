/** Signed addresses are those that the server computes as well. */

import t from 'tap'
import { asBlobLocation, type S3Location } from '../../../conf/blob-location.js'
import { presignedUrl } from '../../../registry/storage/presigned-url.js'

function locationOf(url: string): S3Location {
  const location = asBlobLocation(url)
  if (location.kind !== 's3') throw new Error('not S3')
  return location
}

const NOW = new Date('2013-05-24T00:00:00.000Z')

t.test("the example of the protocol's documentation has its signature", async (t) => {
  const location = locationOf(
    's3://AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI%2FK7MDENG%2FbPxRfiCYEXAMPLEKEY@host/bucket',
  )
  const address = 'https://examplebucket.s3.amazonaws.com/test.txt'
  const options = { method: 'GET', query: {}, expiresSeconds: 86_400, now: NOW } as const
  const url = presignedUrl(location, { ...options, address })
  const signature = 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404'
  t.equal(new URL(url).searchParams.get('X-Amz-Signature'), signature)
})

t.test('response headers are in the address and the secret is not', async (t) => {
  const location = locationOf('s3://key:hunter2@s3.example.org:9000/bucket?region=eu-1')
  const query = { 'response-content-disposition': `attachment; filename*=UTF-8''(a*b)!%20"` }
  const url = presignedUrl(location, {
    method: 'HEAD',
    address: 'https://s3.example.org:9000/bucket/a/b/key',
    query,
    expiresSeconds: 300,
    now: NOW,
  })
  t.match(url, /^https:\/\/s3\.example\.org:9000\/bucket\/a\/b\/key\?[A-Za-z0-9=&%._~-]+$/)
  const { searchParams } = new URL(url)
  t.equal(searchParams.get('response-content-disposition'), query['response-content-disposition'])
  t.equal(searchParams.get('X-Amz-Credential'), 'key/20130524/eu-1/s3/aws4_request')
  t.equal(searchParams.get('X-Amz-Expires'), '300')
  t.notMatch(url, /hunter2/)
})
