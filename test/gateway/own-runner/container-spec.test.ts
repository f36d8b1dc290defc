/** Containers of jobs: values of their expressions, and texts that are refused. */

import t from 'tap'
import { readJobContainer, readServices } from '../../../gateway/own-runner/container-file.js'
import { evaluateContainer } from '../../../gateway/own-runner/container-spec.js'
import { parseYaml } from '../../../gateway/workflows/yaml-value.js'

const CONTEXTS = {
  github: { job: 'build' },
  matrix: { image: 'debian', none: '' },
  vars: { PORT: '5432' },
  secrets: { KEY: 'hidden' },
  env: { NAME: 'value' },
}

/** Evaluates a service of lines of YAML. */
function specOf(...lines: readonly string[]) {
  const service = lines.map((line) => `    ${line}\n`).join('')
  const file = readServices(parseYaml(`services:\n  db:\n${service}`)).get('db')
  if (file === undefined) throw new Error('there is no service')
  return evaluateContainer(file, CONTEXTS, 'service')
}

t.test('a service has the values of its expressions', (t) => {
  const spec = specOf(
    'image: ${{ matrix.image }}:12',
    "credentials: {username: ada, password: '${{ secrets.KEY }}'}",
    "env: {KEY: '${{ secrets.KEY }}', NAME: '${{ env.NAME }}', EMPTY: }",
    "ports: ['${{ vars.PORT }}', 80:8080, 53/udp]",
    'volumes: [/data, shared:/var/lib/shared, cache:/cache:ro]',
    'options: --cpus 2',
  )
  t.strictSame(spec, {
    image: { name: 'docker.io/library/debian:12', registry: 'docker.io' },
    credentials: { username: 'ada', password: 'hidden' },
    env: { KEY: 'hidden', NAME: 'value', EMPTY: '' },
    ports: [
      '--publish=127.0.0.1::5432/tcp',
      '--publish=127.0.0.1:80:8080/tcp',
      '--publish=127.0.0.1::53/udp',
    ],
    volumes: [
      { name: undefined, path: '/data', isReadOnly: false },
      { name: 'shared', path: '/var/lib/shared', isReadOnly: false },
      { name: 'cache', path: '/cache', isReadOnly: true },
    ],
    options: ['--cpus=2'],
  })
  t.end()
})

t.test('an image whose value is empty is no container', (t) => {
  for (const image of ['${{ matrix.none }}', '""', ''])
    t.equal(specOf(`image: ${image}`), undefined)
  const container = readJobContainer(parseYaml('container: "${{ matrix.none }}"'))
  t.ok(container)
  t.equal(container && evaluateContainer(container, CONTEXTS, 'job'), undefined)
  t.equal(readJobContainer(parseYaml('container: ')), undefined)
  t.end()
})

t.test('names of images are complete, as on GitHub', (t) => {
  for (const [image, name, registry] of [
    ['debian', 'docker.io/library/debian', 'docker.io'],
    ['docker://ada/tool:1.2', 'docker.io/ada/tool:1.2', 'docker.io'],
    ['localhost/box', 'localhost/box', 'localhost'],
    ['code.example.org/ada/my_tool/x:v1', 'code.example.org/ada/my_tool/x:v1', 'code.example.org'],
    ['registry:5000/x', 'registry:5000/x', 'registry:5000'],
    [`ghcr.io/x/y@sha256:${'0a'.repeat(32)}`, `ghcr.io/x/y@sha256:${'0a'.repeat(32)}`, 'ghcr.io'],
  ] as const) {
    t.strictSame(specOf(`image: '${image}'`)?.image, { name, registry }, image)
  }
  t.end()
})

t.test('texts that would be options or paths of the machine are refused', (t) => {
  const wrongImage = /^the image '.*' is not a name/s
  const wrongVolume = /^the volume '.*' of a container is not NAME:\/PATH/
  const rows: readonly (readonly [string, RegExp])[] = [
    ['image: --privileged', wrongImage],
    ['image: -v/:/x', wrongImage],
    ['image: "-x:80/debian"', wrongImage],
    ['image: "debian --privileged"', wrongImage],
    ['image: "debian\\n--privileged"', wrongImage],
    ['image: "oci:/etc"', wrongImage],
    ['image: "dir:/etc"', wrongImage],
    ['image: /etc/passwd', wrongImage],
    ['image: ../x', wrongImage],
    ['image: Debian', wrongImage],
    ['image: "${{ secrets.KEY }}"', /the context 'secrets' does not exist/],
    ['image: x\n    volumes: ["/etc:/etc"]', wrongVolume],
    ['image: x\n    volumes: ["/etc:/etc:ro"]', wrongVolume],
    ['image: x\n    volumes: ["./x:/y"]', wrongVolume],
    ['image: x\n    volumes: ["../x:/y"]', wrongVolume],
    ['image: x\n    volumes: ["-v:/y"]', wrongVolume],
    ['image: x\n    volumes: [":/y"]', wrongVolume],
    ['image: x\n    volumes: ["x:/y:rw,dev"]', wrongVolume],
    ['image: x\n    volumes: ["x"]', wrongVolume],
    ['image: x\n    volumes: ["/x:ro"]', wrongVolume],
    ['image: x\n    env: {"A B": c}', /^the variable 'A B' of a container has a malformed/],
    ['image: x\n    env: {"A*": c}', /^the variable 'A\*' of a container has a malformed/],
    ['image: x\n    env: {"#A": c}', /^the variable '#A' of a container has a malformed/],
    ['image: x\n    ports: ["0.0.0.0:80:80"]', /^the port '0.0.0.0:80:80' of a container is/],
    ['image: x\n    ports: ["80-90"]', /^the port '80-90' of a container is not/],
    ['image: x\n    ports: ["65536"]', /^the port '65536' of a container is not/],
    ['image: x\n    options: --privileged', /^the option '--privileged'/],
    ['image: x\n    credentials: {username: a}', /credentials must have a username/],
    ['image: x\n    command: y', /^services.db has the key 'command'/],
    ['env: {}', /^services.db has no 'image'/],
  ]
  for (const [line, message] of rows) t.throws(() => specOf(line), { message }, line)
  t.throws(
    () => readServices(parseYaml('services: {"--db": {image: x}}')),
    /has a name that is not/,
  )
  t.end()
})
