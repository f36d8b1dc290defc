/** Diff hunk of a line, given by its number in the new or old file. */

import t from 'tap'
import { hunkOf } from '../../../../gateway/api/pulls/review-comments.js'

const DIFF = `diff --git a/f b/f
index 1..2 100644
--- a/f
+++ b/f
@@ -1,6 +1,6 @@
 one
 two
-three
+THREE
 four
 five
 six
@@ -20,2 +20,2 @@ six
 twenty
-last
\\ No newline at end of file
+LAST
\\ No newline at end of file
`

t.test('a line is shown with its hunk and some lines above', async (t) => {
  t.equal(hunkOf(DIFF, 3), '@@ -1,6 +1,6 @@\n one\n two\n-three\n+THREE')
  t.equal(hunkOf(DIFF, -3), '@@ -1,6 +1,6 @@\n one\n two\n-three')
  t.equal(hunkOf(DIFF, 1), '@@ -1,6 +1,6 @@\n one')
  t.equal(hunkOf(DIFF, 6), '@@ -1,6 +1,6 @@\n+THREE\n four\n five\n six')
  t.equal(hunkOf(DIFF, 21), '@@ -20,2 +20,2 @@ six\n twenty\n-last\n+LAST')
  t.equal(hunkOf(DIFF, -21), '@@ -20,2 +20,2 @@ six\n twenty\n-last')
})

t.test('a line that is not in the diff has no hunk', async (t) => {
  for (const line of [0, 7, 19, 22, -7, -22]) t.equal(hunkOf(DIFF, line), '', String(line))
  t.equal(hunkOf('', 1), '')
})
