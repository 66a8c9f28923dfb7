"""Learns which terms are related: `train.py PAIRS TABLE`, with the folder that `writePairs.ts` wrote.

Each term gets a vector, and a text the sum of those of its terms, so that what a person wrote about code is closer to this code than to
other code of the same repository: InfoNCE (van den Oord, Li and Vinyals, "Representation Learning with Contrastive Predictive Coding",
2018) in both directions, with the other texts of a batch as negatives. Terms whose vectors are close are related. It needs numpy and
scipy, one core and about ten minutes for a million pairs.
"""

import collections
import json
import sys

import numpy as np
import scipy.sparse as sparse

DIMENSIONS = 128
STEPS = 9000
BATCH = 1024
# Texts of one repository are harder to tell apart than those of several.
GROUPS_IN_A_BATCH = 2
TEMPERATURE = 0.05
LEARNING_RATE = 0.01
WARM_UP = 200
# Terms that are left out at random, so that no pair is known by one of them.
ABOUT_DROPOUT, CODE_DROPOUT = 0.1, 0.3
LEAST_GROUP = 500
LEAST_USES = 25
REPORT_EVERY = 500
VALIDATED = 64
CANDIDATES = 500

# A term of one project is related to nothing elsewhere.
LEAST_REPOSITORIES = 16
LEAST_QUERIES = 4
LEAST_SIMILARITY = 0.44
MOST_RELATED = 4


def read_lists(folder, name):
    values = np.fromfile(f'{folder}/{name}.u32', np.uint32)
    ends = np.fromfile(f'{folder}/{name}Ends.u32', np.uint32).astype(np.int64)
    return values, np.concatenate([[0], ends])


def matrix(values, ends, rows, terms, dropout=0.0):
    """The texts of these rows as counts of their terms."""
    starts, lengths = ends[rows], ends[rows + 1] - ends[rows]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns = values[np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])]
    counts = (columns > 0).astype(np.float32)
    if dropout:
        counts *= random.random(len(columns)) > dropout
    return sparse.csr_matrix((counts, columns, offsets), shape=(len(rows), terms))


def normalised(sums):
    lengths = np.sqrt((sums * sums).sum(1, keepdims=True)) + 1e-6
    return sums / lengths, lengths


def gradient_of_sums(gradient, unit, lengths):
    return ((gradient - unit * (gradient * unit).sum(1, keepdims=True)) / lengths).astype(np.float32)


def softmax(scores, axis):
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


random = np.random.default_rng(1)
folder, table = sys.argv[1:3]
with open(f'{folder}/pairs.json', encoding='utf-8') as file:
    header = json.load(file)
names, all_terms = header['names'], header['terms']
groups = np.fromfile(f'{folder}/groups.u16', np.uint16)
about, about_ends = read_lists(folder, 'about')
code, code_ends = read_lists(folder, 'code')

# Term 0 stands for all that are too rare.
uses = np.bincount(about, minlength=len(all_terms)) + np.bincount(code, minlength=len(all_terms))
kept = np.flatnonzero((uses >= LEAST_USES) & np.array([len(term) > 1 for term in all_terms]))
number = np.zeros(len(all_terms), np.int64)
number[kept] = np.arange(1, len(kept) + 1)
terms = ['', *(all_terms[at] for at in kept)]
about, code = number[about], number[code]

repositories = {name: at for at, name in enumerate(dict.fromkeys(name.rsplit(' ', 1)[0] for name in names))}
repository = np.array([repositories[name.rsplit(' ', 1)[0]] for name in names])[groups]


def repositories_with(values, ends, least):
    """In how many repositories each term occurs this often."""
    owners = np.repeat(repository, np.diff(ends))
    counts = np.bincount(owners * len(terms) + values, minlength=len(repositories) * len(terms))
    return (counts.reshape(len(repositories), len(terms)) >= least).sum(0)


rows_of = [random.permutation(np.flatnonzero(groups == group)) for group in range(len(names))]
validated = [rows[:VALIDATED] for rows in rows_of]
rows_of = [rows[VALIDATED:] for rows in rows_of]
share = np.array([len(rows) ** 0.75 if len(rows) >= LEAST_GROUP else 0 for rows in rows_of])
share /= share.sum()

frequency = np.bincount(code, minlength=len(terms)) + np.bincount(about, minlength=len(terms))
rarity = np.log(1 + frequency.sum() / (frequency + 1))
vectors = random.standard_normal((len(terms), DIMENSIONS)) * (rarity / rarity.mean())[:, None] / np.sqrt(DIMENSIONS) / 2
vectors = vectors.astype(np.float32)
vectors[0] = 0
mean, square = np.zeros_like(vectors), np.zeros_like(vectors)


def validate():
    """The mean reciprocal rank of the right code among 500 of the same repository."""
    ranks = []
    for group in np.flatnonzero(share):
        own = validated[group]
        others = np.concatenate([own, rows_of[group][: CANDIDATES - len(own)]])
        texts, _ = normalised(matrix(about, about_ends, own, len(terms)) @ vectors)
        codes, _ = normalised(matrix(code, code_ends, others, len(terms)) @ vectors)
        scores = texts @ codes.T
        right = scores[np.arange(len(own)), np.arange(len(own))]
        ranks.append((1 / (1 + (scores > right[:, None]).sum(1))).mean())
    return np.mean(ranks)


print(f'{len(groups)} pairs of {len(repositories)} repositories, {len(terms)} terms', flush=True)
for step in range(1, STEPS + 1):
    chosen = random.choice(len(names), GROUPS_IN_A_BATCH, p=share)
    size = BATCH // GROUPS_IN_A_BATCH
    rows = np.concatenate([rows_of[group][random.integers(0, len(rows_of[group]), size)] for group in chosen])
    texts = matrix(about, about_ends, rows, len(terms), ABOUT_DROPOUT)
    codes = matrix(code, code_ends, rows, len(terms), CODE_DROPOUT)
    (left, left_lengths), (right, right_lengths) = normalised(texts @ vectors), normalised(codes @ vectors)
    scores = left @ right.T / TEMPERATURE
    scores[np.equal.outer(rows, rows) & ~np.eye(BATCH, dtype=bool)] = -1 / TEMPERATURE
    gradient = softmax(scores, 1) + softmax(scores, 0)
    gradient[np.arange(BATCH), np.arange(BATCH)] -= 2
    gradient /= 2 * BATCH * TEMPERATURE
    sums = np.vstack(
        [
            gradient_of_sums(gradient @ right, left, left_lengths),
            gradient_of_sums(gradient.T @ left, right, right_lengths),
        ]
    )
    # Adam (Kingma and Ba, 2015), of the terms in the batch only.
    both = sparse.vstack([texts, codes]).tocsc()
    used = np.flatnonzero(np.diff(both.indptr))
    used = used[used > 0]
    slope = both[:, used].T @ sums
    mean[used] = 0.9 * mean[used] + 0.1 * slope
    square[used] = 0.99 * square[used] + 0.01 * slope * slope
    rate = LEARNING_RATE * min(1, step / WARM_UP) * (1 + np.cos(np.pi * step / STEPS)) / 2
    vectors[used] -= rate * mean[used] / (1 - 0.9**step) / (np.sqrt(square[used] / (1 - 0.99**step)) + 1e-8)
    if step % REPORT_EVERY == 0:
        print(f'{step}: {validate():.4f}', flush=True)

units, _ = normalised(vectors)
spread = repositories_with(code, code_ends, 3)
is_word = np.array([len(term) > 2 and term.isascii() and term.isalpha() for term in terms])
candidates = np.flatnonzero((spread >= LEAST_REPOSITORIES) & is_word)
written = np.flatnonzero((repositories_with(about, about_ends, 2) >= LEAST_QUERIES) & is_word)
related = collections.OrderedDict()
for term in sorted(written, key=lambda at: terms[at]):
    similarities = units[candidates] @ units[term]
    best = [at for at in np.argsort(-similarities)[: MOST_RELATED + 1] if candidates[at] != term]
    close = [at for at in best[:MOST_RELATED] if similarities[at] >= LEAST_SIMILARITY]
    if close:
        related[terms[term]] = ' '.join(f'{terms[candidates[at]]} {similarities[at] * 100:.0f}' for at in close)
with open(table, 'w', encoding='utf-8') as file:
    json.dump(related, file, indent=2)
    file.write('\n')
print(f'{len(related)} terms have {sum(len(list.split()) // 2 for list in related.values())} related ones')
