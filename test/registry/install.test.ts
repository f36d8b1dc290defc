/** Installation instructions of each format, as the package's page shows them. */

import t from 'tap'
import type { PackageFormat } from '../../conf/package.js'
import { formatOf } from '../../registry/formats.js'

const REGISTRIES = 'http://x/api/packages/ada'

function install(format: PackageFormat, packageName: string, compositeKey = '', name = 'f') {
  return formatOf(format)
    .install({
      registryUrl: `${REGISTRIES}/${format}`,
      packageName,
      version: '1.0',
      files: [{ name, compositeKey }],
    })
    .map(({ where, text }) => `${where}:\n${text}`)
}

t.test('the instructions of each format are commands and lines of its client', async (t) => {
  t.strictSame(install('alpine', 'hello', 'v3.20|main|x86_64'), [
    `As root:
(cd /etc/apk/keys && curl -fJO ${REGISTRIES}/alpine/key)
echo ${REGISTRIES}/alpine/v3.20/main >> /etc/apk/repositories
apk update && apk add hello=1.0`,
  ])
  t.strictSame(install('composer', 'a/b'), [
    `In the folder of your composer.json:
composer config repositories.gatehouse composer ${REGISTRIES}/composer
composer require a/b:1.0`,
  ])
  t.strictSame(install('cran', 'toy'), [
    `In R:
install.packages("toy", repos = c("${REGISTRIES}/cran", getOption("repos")))`,
  ])
  const key = '/etc/apt/keyrings/gatehouse.asc'
  const source = `deb [signed-by=${key}] ${REGISTRIES}/debian bookworm main`
  t.strictSame(install('debian', 'hello', 'bookworm|main'), [
    `As root:
curl -fo ${key} ${REGISTRIES}/debian/repository.key
echo '${source}' > /etc/apt/sources.list.d/gatehouse.list
apt-get update && apt-get install hello=1.0`,
  ])
  t.strictSame(install('go', 'example.com/m'), [
    `In a shell:
GOPROXY=${REGISTRIES}/go,direct GONOSUMDB=example.com/m go get example.com/m@1.0`,
  ])
  t.strictSame(install('swift', 'acme.Hello'), [
    `In a shell:\nswift package-registry set ${REGISTRIES}/swift`,
    'In Package.swift:\n.package(id: "acme.Hello", from: "1.0")',
  ])
})

t.test('the instructions of a source package download it', async (t) => {
  const [text = ''] = install('debian', 'hello', 'bookworm|main', 'hello_1.0-1.dsc')
  t.match(text, `\necho 'deb-src [signed-by=/etc/apt/keyrings/gatehouse.asc] ${REGISTRIES}/debian`)
  t.match(text, '\napt-get update && apt-get source hello')
})

t.test('a name with special characters is quoted for the shell', async (t) => {
  t.strictSame(install('generic', 'tool', '', "it's $(x)"), [
    `In a shell:\ncurl -fO '${REGISTRIES}/generic/tool/1.0/it'\\''s%20%24(x)'`,
  ])
})
