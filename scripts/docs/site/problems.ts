import type { ApiError, ErrorCode } from '../../../src/errors.ts'
import { PROBLEM } from '../explained/problems.ts'
import { PROBLEMS } from '../openapi/failures.ts'
import { jsonBlock } from './code.ts'
import { type GuidePage, toMarkdownLinks } from './guide.ts'
import { html } from './html.ts'
import { rendered } from './markdown.ts'
import type { Spec } from './spec.ts'

/** Returns an answer with the code, in the format of the endpoints that send it. */
function answerWith(code: ErrorCode, spec: Spec): unknown {
  const examples = Object.values(spec.components.responses)
    .flatMap(({ content = {} }) => Object.values(content))
    .flatMap(({ examples = {} }) => examples[code] ?? [])
  const isOauthOnly = examples.length > 0 && examples.every((example) => !example.$ref)
  return isOauthOnly ? examples[0]?.value : PROBLEMS[code]?.value
}

/** Renders the page of a problem, as markup and as Markdown. */
export function problemPage(problem: ApiError, guide: readonly GuidePage[], spec: Spec) {
  const { code, status, title } = problem
  const { cause, fix } = PROBLEM[code]
  const answer = answerWith(code, spec)
  const pages = guide.filter(
    ({ name, markdown }) => name === 'errors' || markdown.includes(`\`${code}\``),
  )
  const markdown = `# ${title}

\`${code}\`, status ${status}.

## Cause

${cause}

## What to do

${toMarkdownLinks(fix)}

## Example

\`\`\`json
${JSON.stringify(answer, null, 2)}
\`\`\`

## In the guide

${pages.map((page) => `- [${page.title}](${page.at}.md)`).join('\n')}
`
  const main = html`<h1>${title}</h1>
<p class="lead"><code>${code}</code>, status <strong>${status}</strong></p>
<h2 id="cause">Cause</h2>
${rendered(cause)}
<h2 id="fix">What to do</h2>
${rendered(fix)}
<h2 id="answer">Example</h2>
${jsonBlock(answer)}
<h2 id="guide">In the guide</h2>
<ul>${pages.map((page) => html`<li><a href="${page.at}">${page.title}</a></li>`)}</ul>
<p class="twin"><a href="/problems/${code}.md">View as Markdown</a></p>
`
  const description = `${title}: the cause of ${code} (status ${status}), and what to do.`
  return { code, title, description, markdown, main }
}
