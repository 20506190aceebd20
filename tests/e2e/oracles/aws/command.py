# SPDX-License-Identifier: Apache-2.0
"""Judges a command of the AWS CLI by botocore's model of the service, which the CLI's parser is made of:

    command.py aws eks create-access-entry --cluster-name NAME ...

Each flag must be a member of the operation's input, and the values must pass botocore's validation. Prints
the input as JSON, or exits with 1 and what is wrong. Sends nothing.
"""

import json
import sys

import botocore.session
from botocore import validate, xform_name

GLOBAL = {"--region"}


def value_of(shape, texts):
    if shape.type_name == "list":
        return texts
    if len(texts) != 1:
        sys.exit(f"{shape.name} has {len(texts)} values")
    return json.loads(texts[0]) if shape.type_name in ("structure", "map") else texts[0]


def main(words):
    if words[0] != "aws":
        sys.exit("not a command of aws")
    model = botocore.session.Session().get_service_model(words[1])
    operations = {xform_name(name, "-"): name for name in model.operation_names}
    if words[2] not in operations:
        sys.exit(f"unknown operation {words[2]}")
    shape = model.operation_model(operations[words[2]]).input_shape
    members = {"--" + xform_name(name, "-"): name for name in shape.members}
    given = {}
    for word in words[3:]:
        if word.startswith("--"):
            if word not in members and word not in GLOBAL:
                sys.exit(f"unknown option {word}")
            given[word] = []
            texts = given[word]
        else:
            texts.append(word)
    taken = {members[flag]: value_of(shape.members[members[flag]], texts)
             for flag, texts in given.items() if flag not in GLOBAL}
    report = validate.ParamValidator().validate(taken, shape)
    if report.has_errors():
        sys.exit(report.generate_report())
    print(json.dumps(taken))


main(sys.argv[1:])
