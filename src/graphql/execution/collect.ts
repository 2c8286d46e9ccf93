// Collects the fields of a selection as they appear in a response: fragments expanded, conditions applied, fields of one name merged
// (GraphQL specification, "CollectFields"; our schema has object types only, so every valid fragment applies).
import { type DirectiveNode, type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql'

/** Values of the variables that conditions use, by name. */
export type Conditions = Readonly<Record<string, unknown>>

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

export function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  return fragments
}

/** Field nodes by their response name, in the order of the response. */
export function collectFields(sets: readonly SelectionSetNode[], fragments: Fragments, conditions: Conditions): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>()
  const opened = new Set<string>()
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (!isIncluded(selection.directives, conditions)) continue
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value
        const known = fields.get(name)
        if (known) known.push(selection)
        else fields.set(name, [selection])
      } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet)
      else if (!opened.has(selection.name.value)) {
        opened.add(selection.name.value)
        collect(fragments.get(selection.name.value)!.selectionSet)
      }
    }
  }
  for (const set of sets) collect(set)
  return fields
}

function isIncluded(directives: readonly DirectiveNode[] | undefined, conditions: Conditions): boolean {
  return (directives ?? []).every(({ name, arguments: args }) => {
    if (name.value !== 'skip' && name.value !== 'include') return true
    const value = args?.[0]?.value
    const given = value?.kind === Kind.VARIABLE ? conditions[value.name.value] : value?.kind === Kind.BOOLEAN && value.value
    return (given === true) === (name.value === 'include')
  })
}
