import type { Page } from 'playwright-core'
import { DESKTOP, PHONE } from './viewports.ts'

// Which elements of a page are of a kind that no earlier page has shown. The kind of an element is its
// name, its class and its relevant attributes, and the name and the class of its parent.

/** The attributes on which a style or a rule of axe depends, besides those that name a field. */
const RELEVANT =
  /^(?:aria-.+|role|type|href|src|alt|lang|scope|style|tabindex|disabled|data-method)$/

/** What stays whole or goes whole: its parts name each other, or cannot stand alone. */
const WHOLE =
  'a, button, summary, legend, caption, label, select, h1, h2, h3, h4, h5, h6, p, tr, dl:has(> dt)'

/** What stays in each element that stays: its name, and what it must have. */
const COMPANIONS = ':scope > :is(h1, h2, h3, h4, h5, h6, summary, legend, caption, dt, dd)'

/** What stays in every page, because rules judge the page by it. */
const FRAME = 'header, nav, main, footer, h1'

const REFERENCES = ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for']

const KIND_OF = `
  const nameOf = ({ localName, className }) => localName + ' ' + className
  const isRelevant = (name) => name !== 'class' && ${RELEVANT}.test(name)
  const kindOf = (element, parentName) =>
    [parentName, nameOf(element), ...element.getAttributeNames().filter(isRelevant)].join(' > ')
`

/**
 * Replaces highlighted code by its text if earlier pages have shown all kinds of its elements. They are a
 * third of the reference. Code scrolls on its own, so that the width of the page does not depend on them.
 */
export const dropKnownHighlighting = (page: Page, known: Set<string>) =>
  page.evaluate(`
    (() => {
      ${KIND_OF}
      const known = new Set(${JSON.stringify([...known])})
      const isKnown = (element) => {
        const kind = kindOf(element, nameOf(element.parentElement))
        return known.has('${DESKTOP.width} ' + kind) && known.has('${PHONE.width} ' + kind)
      }
      for (const code of document.querySelectorAll('pre code'))
        if ([...code.querySelectorAll('*')].every(isKnown)) code.textContent = code.textContent
    })()
  `)

/**
 * Notes the visible elements of kinds that no earlier page has shown at this width. The set `known` has
 * these kinds, and gets those of this page.
 */
export async function noteNewKinds(page: Page, width: number, known: Set<string>): Promise<void> {
  const found = await page.evaluate<string[]>(`
    (() => {
      ${KIND_OF}
      const list = (element, parentName) => {
        const kind = '${width} ' + kindOf(element, parentName)
        if (!known.has(kind) && element.checkVisibility({ visibilityProperty: true })) {
          known.add(kind)
          found.push(kind)
          elementsOfNewKinds.add(element)
        }
        for (const child of element.children) list(child, nameOf(element))
      }
      globalThis.elementsOfNewKinds ??= new Set()
      const known = new Set(${JSON.stringify([...known])})
      const found = []
      list(document.body, '')
      return found
    })()
  `)
  for (const kind of found) known.add(kind)
}

/** Removes what is not needed for the elements of new kinds. Returns whether the page has such elements. */
export const keepNewKinds = (page: Page) =>
  page.evaluate<boolean>(`
    (() => {
      const kept = new Set()
      const whole = new Set()
      const keep = (element) => {
        for (let one = element; one && !kept.has(one); one = one.parentElement) {
          kept.add(one)
          if (one.matches('${WHOLE}')) keepWhole(one)
          for (const companion of one.querySelectorAll('${COMPANIONS}')) keep(companion)
          for (const label of one.labels ?? []) keepWhole(label)
          for (const name of ${JSON.stringify(REFERENCES)})
            for (const id of one.getAttribute(name)?.split(' ') ?? [])
              if (document.getElementById(id)) keepWhole(document.getElementById(id))
        }
      }
      const keepWhole = (element) => {
        if (whole.has(element)) return
        whole.add(element)
        for (const one of [element, ...element.querySelectorAll('*')]) keep(one)
      }
      const dropIn = (element) => {
        for (const child of [...element.children]) kept.has(child) ? dropIn(child) : child.remove()
      }
      for (const element of elementsOfNewKinds) keep(element)
      for (const element of document.querySelectorAll('${FRAME}')) keep(element)
      dropIn(document.body)
      return elementsOfNewKinds.size > 0
    })()
  `)
