// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sts knows who may sign, and the sessions that it gave.
type sts struct {
	mutex    sync.Mutex
	known    map[string]keys
	sessions map[string]string // by key: the ARN
	issuer   *issuer
}

var (
	roleARN     = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+$`)
	sessionName = regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
	externalID  = regexp.MustCompile(`^[\w+=,.@:/-]{2,}$`)
)

var fieldsOf = map[string][]string{
	"AssumeRole":                {"RoleArn", "RoleSessionName", "ExternalId", "DurationSeconds"},
	"AssumeRoleWithWebIdentity": {"RoleArn", "RoleSessionName", "WebIdentityToken", "DurationSeconds"},
}

// answer gives the reply's status and body, and why a request is refused.
func (s *sts) answer(request *http.Request, body []byte) (int, string, error) {
	reply, err := s.act(request, body)
	if err == nil {
		return http.StatusOK, reply, nil
	}
	code, _, _ := strings.Cut(err.Error(), ":")
	if strings.Contains(code, " ") {
		code = "ValidationError"
	}
	return http.StatusForbidden, errorReply(request, code, err.Error()), err
}

func wantsJSON(request *http.Request) bool {
	return strings.Contains(request.Header.Get("Accept"), "json")
}

func errorReply(request *http.Request, code, message string) string {
	if wantsJSON(request) {
		text, _ := json.Marshal(map[string]any{"Error": map[string]string{"Code": code, "Message": message, "Type": "Sender"}, "RequestId": "r"})
		return string(text)
	}
	return fmt.Sprintf(`<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r</RequestId></ErrorResponse>`, code, message)
}

func (s *sts) act(request *http.Request, body []byte) (string, error) {
	if request.URL.Path != "/" {
		return "", fmt.Errorf("the path %q", request.URL.Path)
	}
	if request.Method == http.MethodGet {
		return s.callerIdentity(request)
	}
	if request.Method != http.MethodPost || request.URL.RawQuery != "" {
		return "", fmt.Errorf("the method %s", request.Method)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", err
	}
	if err := checkForm(request, form); err != nil {
		return "", err
	}
	if form.Get("Action") == "AssumeRole" {
		found, err := signatureOfHeader(request.Header)
		if err != nil {
			return "", err
		}
		key, err := s.keysOf(found.keyID)
		if err != nil {
			return "", err
		}
		if err := found.check(request, body, key, false); err != nil {
			return "", err
		}
	} else if err := s.checkWebIdentity(request, form); err != nil {
		return "", err
	}
	return s.session(request, form)
}

func (s *sts) checkWebIdentity(request *http.Request, form url.Values) error {
	if request.Header.Get("Authorization") != "" {
		return fmt.Errorf("a web identity's request is not signed")
	}
	return s.issuer.check(form.Get("WebIdentityToken"), "sts.amazonaws.com")
}

func checkForm(request *http.Request, form url.Values) error {
	if kind := request.Header.Get("Content-Type"); kind != "application/x-www-form-urlencoded; charset=utf-8" {
		return fmt.Errorf("the content type %q", kind)
	}
	fields, ok := fieldsOf[form.Get("Action")]
	if !ok || form.Get("Version") != "2011-06-15" {
		return fmt.Errorf("InvalidAction: %q", form.Get("Action"))
	}
	for name, values := range form {
		if len(values) != 1 || values[0] == "" {
			return fmt.Errorf("%s is empty, or stands twice", name)
		}
		if name != "Action" && name != "Version" && !slices.Contains(fields, name) {
			return fmt.Errorf("the unknown field %s", name)
		}
	}
	if !roleARN.MatchString(form.Get("RoleArn")) || !sessionName.MatchString(form.Get("RoleSessionName")) {
		return fmt.Errorf("RoleArn or RoleSessionName")
	}
	if form.Has("ExternalId") && !externalID.MatchString(form.Get("ExternalId")) {
		return fmt.Errorf("ExternalId")
	}
	if form.Has("DurationSeconds") {
		seconds, err := strconv.Atoi(form.Get("DurationSeconds"))
		if err != nil || seconds < 900 || seconds > 43200 {
			return fmt.Errorf("DurationSeconds")
		}
	}
	return nil
}

func (s *sts) keysOf(id string) (keys, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key, ok := s.known[id]
	if !ok {
		return keys{}, fmt.Errorf("InvalidClientTokenId: %s", id)
	}
	return key, nil
}

func (s *sts) callerIdentity(request *http.Request) (string, error) {
	query := request.URL.Query()
	for name, values := range query {
		if len(values) != 1 {
			return "", fmt.Errorf("%s stands twice", name)
		}
	}
	if query.Get("Action") != "GetCallerIdentity" || query.Get("Version") != "2011-06-15" {
		return "", fmt.Errorf("InvalidAction: %q", query.Get("Action"))
	}
	found, err := signatureOfQuery(query)
	if err != nil {
		return "", err
	}
	if !strings.HasSuffix(request.URL.RawQuery, "&X-Amz-Signature="+found.value) {
		return "", fmt.Errorf("the signature is not last")
	}
	key, err := s.keysOf(found.keyID)
	if err != nil {
		return "", err
	}
	if err := found.check(request, nil, key, true); err != nil {
		return "", err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	arn := s.sessions[found.keyID]
	if arn == "" {
		arn = "arn:aws:iam::123456789012:user/tester"
	}
	reply, err := json.Marshal(map[string]any{"GetCallerIdentityResponse": map[string]any{
		"GetCallerIdentityResult": map[string]string{"Account": "123456789012", "Arn": arn, "UserId": "AROAEXAMPLE:session"},
		"ResponseMetadata":        map[string]string{"RequestId": "r"}}})
	return string(reply), err
}

func random(prefix string, bytes int) string {
	data := make([]byte, bytes)
	rand.Read(data)
	if prefix != "" {
		return prefix + strings.ToUpper(hex.EncodeToString(data))
	}
	return base64.StdEncoding.EncodeToString(data)
}

func (s *sts) session(request *http.Request, form url.Values) (string, error) {
	key := keys{random("ASIA", 8), random("", 30), random("", 90)}
	seconds := 3600
	if form.Has("DurationSeconds") {
		seconds, _ = strconv.Atoi(form.Get("DurationSeconds"))
	}
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	role := form.Get("RoleArn")
	arn := "arn:aws:sts::123456789012:assumed-role/" + role[strings.LastIndex(role, "/")+1:] + "/" + form.Get("RoleSessionName")
	s.mutex.Lock()
	s.known[key.AccessKeyId], s.sessions[key.AccessKeyId] = key, arn
	s.mutex.Unlock()
	action := form.Get("Action")
	if wantsJSON(request) {
		reply, err := json.Marshal(map[string]any{action + "Response": map[string]any{
			action + "Result": map[string]any{
				"AssumedRoleUser": map[string]string{"Arn": arn, "AssumedRoleId": "AROAEXAMPLE:session"},
				"Credentials":     map[string]any{"AccessKeyId": key.AccessKeyId, "SecretAccessKey": key.SecretAccessKey, "SessionToken": key.SessionToken, "Expiration": float64(end.Unix())}},
			"ResponseMetadata": map[string]string{"RequestId": "r"}}})
		return string(reply), err
	}
	return fmt.Sprintf(`<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><AssumedRoleUser><Arn>%[2]s</Arn><AssumedRoleId>AROAEXAMPLE:session</AssumedRoleId></AssumedRoleUser><Credentials><AccessKeyId>%[3]s</AccessKeyId><SecretAccessKey>%[4]s</SecretAccessKey><SessionToken>%[5]s</SessionToken><Expiration>%[6]s</Expiration></Credentials></%[1]sResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></%[1]sResponse>`,
		action, arn, key.AccessKeyId, key.SecretAccessKey, key.SessionToken, end.UTC().Format(time.RFC3339)), nil
}
