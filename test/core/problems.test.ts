// Every rule has a text in English and in Turkish with the same parameters, and fields are named by data, not by text.
import { expect, test } from 'vitest'
import { TURKISH } from '#core/problem-texts/turkish.ts'
import { renameFields, problem, reason, textIn, textOf, combineProblems } from '#core/problems.ts'
import { type Rule, RULES } from '#core/problem-texts/rules.ts'
import { TERMS } from '#core/problem-texts/terms.ts'

const namesIn = (text: string) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!))].sort()

test.each(Object.keys(RULES) as Rule[])('%s has English and Turkish texts with the same parameters', (rule) => {
  expect(namesIn(TURKISH.rules[rule])).toEqual(namesIn(RULES[rule]))
  const all = Object.fromEntries(namesIn(RULES[rule]).map((name) => [name, name === 'problems' ? [problem('x', 'text')] : name]))
  const always = namesIn(RULES[rule].replace(/\[[^\]]*\]/g, ''))
  expect(namesIn(TURKISH.rules[rule].replace(/\[[^\]]*\]/g, ''))).toEqual(always)
  for (const params of [all, Object.fromEntries(always.map((name) => [name, all[name]!]))]) {
    for (const text of [textOf({ rule, params }), textIn(TURKISH, { rule, params })]) {
      expect(text).not.toMatch(/[{}[\]|]|undefined| {2}/)
      expect(text.length).toBeGreaterThan(3)
    }
  }
})

test('every Turkish text has a rule, and every term has a translation', () => {
  expect(Object.keys(TURKISH.rules).sort()).toEqual(Object.keys(RULES).sort())
  expect(Object.keys(TURKISH.terms!).sort()).toEqual([...TERMS].sort())
})

test.each([
  [{}, 'must be a whole number'],
  [{ min: 1 }, 'must be a whole number of at least 1'],
  [{ max: 5 }, 'must be a whole number of at most 5'],
  [{ min: -1, max: 5, except: 0, value: 'x' }, 'must be a whole number between -1 and 5, except 0, not "x"'],
])('with the parameters %j, a rule prints only the complete parts', (params, text) => {
  expect(textOf(reason('integer', params))).toBe(text)
})

test('texts are built from nested reasons', () => {
  const price = problem('price', 'required', { must: reason('integer', { min: 1, max: 100 }) })
  expect(textOf(price)).toBe('price is required and must be a whole number between 1 and 100')
  expect(textIn(TURKISH, price)).toBe('price gerekli: 1 ile 100 arasında bir tam sayı olmalı')
  expect(textOf(combineProblems([price, problem('name', 'text')]))).toBe(
    'price is required and must be a whole number between 1 and 100; name must be text',
  )
  expect(textIn(TURKISH, reason('not_found', { thing: 'listing', id: 5 }))).toBe('5 numaralı ilan bulunamadı')
})

test('fields are renamed wherever they occur; values stay unchanged', () => {
  const camel = { nameOf: (field: string) => field.replace('_p', 'P'), isKnown: (name: string) => name !== 'id' }
  expect(renameFields(problem('min_price', 'not_above', { field: 'max_price' }), camel)).toEqual(
    problem('minPrice', 'not_above', { field: 'maxPrice' }),
  )
  expect(renameFields(reason('at_least_one', { fields: ['id', 'min_price'] }), camel).params).toEqual({ fields: ['minPrice'] })
  expect(renameFields(combineProblems([problem('a_p', 'text'), problem('b_p', 'one_of', { values: ['x_p'] })]), camel)).toEqual(
    combineProblems([problem('aP', 'text'), problem('bP', 'one_of', { values: ['x_p'] })]),
  )
})
