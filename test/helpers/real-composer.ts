/** The real Composer's classes for versions and packages, called through PHP. */

import { execFileSync } from 'node:child_process'

/** Normalises each version with Composer; undefined if Composer refuses it. */
export function normalizeWithComposer(
  versions: readonly string[],
): ReadonlyArray<string | undefined> {
  return askComposer('(new Composer\\Semver\\VersionParser())->normalize($input)', versions).map(
    ({ value }) => value,
  )
}

/** Returns Composer's error for each record of a package document; undefined if it can load it. */
export function whyNotLoaded(records: readonly unknown[]): ReadonlyArray<string | undefined> {
  const load =
    '(new Composer\\Package\\Loader\\ArrayLoader(null, true))->loadPackages([$input])[0]->getName()'
  return askComposer(load, records).map(({ error }) => error)
}

/** Returns for each requirement whether Composer can parse it. */
export function isConstraintToComposer(constraints: readonly string[]): readonly boolean[] {
  const read = '(string) (new Composer\\Semver\\VersionParser())->parseConstraints($input)'
  return askComposer(read, constraints).map(({ error }) => error === undefined)
}

interface Outcome {
  readonly value?: string
  readonly error?: string
}

/** Evaluates a PHP expression for each `$input`. */
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
