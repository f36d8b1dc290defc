/** Reads the lists of a snapshot, which have one entry in each line. */

import { open } from 'node:fs/promises'

const PAGE = 200

/** Yields the lines of a file in pages. */
export async function* pagesOf(path: string): AsyncGenerator<readonly string[]> {
  const file = await open(path, 'r')
  let page: string[] = []
  for await (const line of file.readLines()) {
    page.push(line)
    if (page.length < PAGE) continue
    yield page
    page = []
  }
  yield page
}
