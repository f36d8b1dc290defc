/** What the real Composer makes of versions and of packages: its own classes, asked through PHP. */

import { execFileSync } from 'node:child_process'

/** Each version as Composer normalises it; undefined for what it refuses. */
export function normalizeWithComposer(
  versions: readonly string[],
): ReadonlyArray<string | undefined> {
  return askComposer('(new Composer\\Semver\\VersionParser())->normalize($input)', versions).map(
    ({ value }) => value,
  )
}

/** For each record of a package document: why Composer cannot load it; undefined if it can. */
export function whyNotLoaded(records: readonly unknown[]): ReadonlyArray<string | undefined> {
  const load =
    '(new Composer\\Package\\Loader\\ArrayLoader(null, true))->loadPackages([$input])[0]->getName()'
  return askComposer(load, records).map(({ error }) => error)
}

/** Whether Composer can read each requirement. */
export function isConstraintToComposer(constraints: readonly string[]): readonly boolean[] {
  const read = '(string) (new Composer\\Semver\\VersionParser())->parseConstraints($input)'
  return askComposer(read, constraints).map(({ error }) => error === undefined)
}

interface Outcome {
  readonly value?: string
  readonly error?: string
}

/** The outcome of an expression of PHP for each `$input`. */
function askComposer(expression: string, inputs: readonly unknown[]): readonly Outcome[] {
  const script = `
    require 'Composer/autoload.php';
    Composer\\Util\\ErrorHandler::register();
    $outcomes = [];
    foreach (json_decode(stream_get_contents(STDIN), true) as $input) {
      try {
        $outcomes[] = ['value' => ${expression}];
      } catch (Throwable $error) {
        $outcomes[] = ['error' => get_class($error) . ': ' . $error->getMessage()];
      }
    }
    echo json_encode($outcomes, JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR);
  `
  const args = ['-d', 'include_path=/usr/share/php', '-r', script]
  const input = JSON.stringify(inputs)
  return JSON.parse(execFileSync('php', args, { input, encoding: 'utf8', maxBuffer: 1 << 26 }))
}
