"""Prepares the sequences of docs/research/real.md and judges molecules, for real.sh and real.go.

    real.py data FOLDER    writes FOLDER/heavy.txt, receptors.txt, proteins.txt and reactions.txt
    real.py molecules      reads lines "true TAB drawn" of SMILES, prints "parses same" as 0 or 1
"""

import gzip
import pathlib
import random
import re
import sys
import tarfile

BASES = "TCAG"
LETTERS = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
CODE = {a + b + c: LETTERS[16 * i + 4 * j + k] for i, a in enumerate(BASES) for j, b in enumerate(BASES) for k, c in enumerate(BASES)}


def fasta(text):
    for record in text.split(">")[1:]:
        yield "".join(record.split("\n")[1:]).upper()


def frames(bases):
    for start in range(3):
        yield "".join(CODE.get(bases[i : i + 3], "*") for i in range(start, len(bases) - 2, 3))


def chains(text):
    """Heavy chains from the 17th letter or so, where the reads' own bases begin, to TVSS."""
    for bases in fasta(text):
        for protein in frames(bases):
            if m := re.search(r"[ST][LVM].[ILVM][ST]C[^*]{60,90}C[^*]{5,24}WG[^*]G[^*]{3}TV[^*]S", protein):
                yield m.group()
                break


def write(path, lines, random_state):
    lines = sorted(set(lines))
    random_state.shuffle(lines)
    path.write_text("".join(line + "\n" for line in lines))
    print(f"{path}: {len(lines)}")


def data(folder):
    import pyarrow.parquet

    r = random.Random(1)
    packages = folder / "packages"
    write(folder / "heavy.txt", chains((packages / "abstar/test_data/test_1k.fasta").read_text()), r)
    genes = (packages / "abstar/germline_dbs/tcr/human/ungapped/v.fasta").read_text()
    whole = (max(frames(g), key=lambda p: len(p.split("*")[0])) for g in fasta(genes))
    write(folder / "receptors.txt", (p for p in whole if "*" not in p and len(p) > 85), r)
    with gzip.open(packages / "promb/resources/uniprot_sprot_human.fasta.gz", "rt") as f:
        human = [p[20:125] for p in fasta(f.read()) if len(p) >= 125]
    write(folder / "proteins.txt", (p for p in human if not set(p) & set("UXBZ")), r)
    with tarfile.open(next(folder.glob("rxn_insight-*.tar.gz"))) as t:
        name = next(n for n in t.getnames() if n.endswith("data/1000rxns.gzip"))
        table = pyarrow.parquet.read_table(t.extractfile(name), columns=["REACTION"])
    write(folder / "reactions.txt", (x.as_py() for x in table["REACTION"]), r)


def molecules():
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    for line in sys.stdin:
        true, drawn = (Chem.MolFromSmiles(x) if x else None for x in line.rstrip("\n").split("\t"))
        print(int(drawn is not None), int(drawn is not None and Chem.MolToSmiles(drawn) == Chem.MolToSmiles(true)))


if sys.argv[1:] == ["molecules"]:
    molecules()
else:
    data(pathlib.Path(sys.argv[2]))
